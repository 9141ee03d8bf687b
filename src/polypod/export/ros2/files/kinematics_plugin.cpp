// kinematics_interface plugin of '@ROBOT@': its joints are the driven ones, its links the bodies. Written by polypod.
#include <Eigen/Core>
#include <Eigen/Geometry>
#include <Eigen/QR>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "@PACKAGE@/kinematics.hpp"
#include "kinematics_interface/kinematics_interface.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace @PACKAGE@ {

using Row = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Functions that older versions of kinematics_interface lack are not marked as overriding.
class KinematicsPlugin : public kinematics_interface::KinematicsInterface {
public:
    bool initialize(const std::string &, std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface>,
        const std::string &) override
    {
        return true;  // the robot is in the code
    }

    bool convert_cartesian_deltas_to_joint_deltas(const Eigen::VectorXd &joint_pos,
        const Eigen::Matrix<double, 6, 1> &delta_x, const std::string &link_name, Eigen::VectorXd &delta_theta) override
    {
        Eigen::Matrix<double, Eigen::Dynamic, 6> inverse;
        if (!calculate_jacobian_inverse(joint_pos, link_name, inverse)) return false;
        delta_theta = inverse * delta_x;
        return true;
    }

    bool convert_joint_deltas_to_cartesian_deltas(const Eigen::VectorXd &joint_pos, const Eigen::VectorXd &delta_theta,
        const std::string &link_name, Eigen::Matrix<double, 6, 1> &delta_x) override
    {
        Eigen::Matrix<double, 6, Eigen::Dynamic> jacobian;
        if (delta_theta.size() != count || !calculate_jacobian(joint_pos, link_name, jacobian)) return false;
        delta_x = jacobian * delta_theta;
        return true;
    }

    bool calculate_link_transform(
        const Eigen::VectorXd &joint_pos, const std::string &link_name, Eigen::Isometry3d &transform) override
    {
        const int link = Kinematics::link(link_name.c_str());
        if (link < 0 || !set(joint_pos)) return false;
        const auto pose = kinematics_.link_pose(static_cast<std::size_t>(link));
        transform.matrix() = Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(pose.data());
        return true;
    }

    bool calculate_jacobian(const Eigen::VectorXd &joint_pos, const std::string &link_name,
        Eigen::Matrix<double, 6, Eigen::Dynamic> &jacobian) override
    {
        std::array<double, 6 * driven_joints.size()> found{};
        const int link = Kinematics::link(link_name.c_str());
        if (link < 0 || !set(joint_pos) || !kinematics_.jacobian(static_cast<std::size_t>(link), found)) return false;
        jacobian = Eigen::Map<const Row>(found.data(), 6, count);
        return true;
    }

    /// Least squares: motions that the platform cannot make are left out.
    bool calculate_jacobian_inverse(const Eigen::VectorXd &joint_pos, const std::string &link_name,
        Eigen::Matrix<double, Eigen::Dynamic, 6> &jacobian_inverse)
    {
        Eigen::Matrix<double, 6, Eigen::Dynamic> jacobian;
        if (!calculate_jacobian(joint_pos, link_name, jacobian)) return false;
        jacobian_inverse = Eigen::MatrixXd(jacobian).completeOrthogonalDecomposition().pseudoInverse();
        return true;
    }

    /// Twist that moves one frame (x, y, z, quaternion x, y, z, w) to another within a time, base axes.
    bool calculate_frame_difference(Eigen::Matrix<double, 7, 1> &x_a, Eigen::Matrix<double, 7, 1> &x_b, double dt,
        Eigen::Matrix<double, 6, 1> &delta_x)
    {
        const Eigen::Quaterniond a(x_a[6], x_a[3], x_a[4], x_a[5]), b(x_b[6], x_b[3], x_b[4], x_b[5]);
        if (!(dt > 0.0) || !(a.norm() > 0.0) || !(b.norm() > 0.0)) return false;
        const Eigen::AngleAxisd turn(b.normalized() * a.normalized().conjugate());
        delta_x.head<3>() = (x_b.head<3>() - x_a.head<3>()) / dt;
        delta_x.tail<3>() = turn.axis() * (turn.angle() / dt);
        return true;
    }

private:
    static constexpr Eigen::Index count = static_cast<Eigen::Index>(driven_joints.size());
    Kinematics kinematics_;

    bool set(const Eigen::VectorXd &joint_pos)
    {
        if (joint_pos.size() != count) return false;
        std::array<double, driven_joints.size()> driven{};
        std::copy(joint_pos.data(), joint_pos.data() + count, driven.begin());
        return kinematics_.set(driven);
    }
};

}  // namespace @PACKAGE@

PLUGINLIB_EXPORT_CLASS(@PACKAGE@::KinematicsPlugin, kinematics_interface::KinematicsInterface)
