// ros2_control controller of '@ROBOT@': computed torque within limits and away from singularities. Written by polypod.
//
// It takes position and velocity of the driven joints, gives their effort, and follows the first point of
// trajectory_msgs/JointTrajectory messages on ~/reference; without one it holds where it was activated. Where a limit
// is exceeded or a singularity is near, efforts are zero and update returns ERROR: the controller manager stops it, and
// brakes or the drives hold the robot.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "@PACKAGE@/computed_torque.hpp"
#include "controller_interface/controller_interface.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/rclcpp.hpp"
#include "trajectory_msgs/msg/joint_trajectory.hpp"

namespace @PACKAGE@ {

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;
using trajectory_msgs::msg::JointTrajectory;

class ComputedTorqueController : public controller_interface::ControllerInterface {
public:
    CallbackReturn on_init() override
    {
        auto_declare<double>("frequency", 31.4);
        return CallbackReturn::SUCCESS;
    }

    InterfaceConfiguration command_interface_configuration() const override { return interfaces({"effort"}); }

    InterfaceConfiguration state_interface_configuration() const override
    {
        return interfaces({"position", "velocity"});
    }

    CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
    {
        const double frequency = get_node()->get_parameter("frequency").as_double();
        if (!(frequency > 0.0)) {
            RCLCPP_ERROR(get_node()->get_logger(), "frequency must be positive, got %g rad/s", frequency);
            return CallbackReturn::ERROR;
        }
        law_ = ComputedTorque(frequency);
        subscription_ = get_node()->create_subscription<JointTrajectory>(
            "~/reference", 1, [this](const JointTrajectory &message) { receive(message); });
        return CallbackReturn::SUCCESS;
    }

    CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
    {
        law_.reset();
        const std::lock_guard<std::mutex> lock(mutex_);
        received_ = Reference{};
        for (std::size_t k = 0; k < driven_joints.size(); k++)
            received_.position[k] = state_interfaces_[2 * k].get_value();
        reference_ = received_;
        return CallbackReturn::SUCCESS;
    }

    CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override
    {
        for (auto &command : command_interfaces_) command.set_value(0.0);
        return CallbackReturn::SUCCESS;
    }

    return_type update(const rclcpp::Time &, const rclcpp::Duration &) override
    {
        std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
        if (lock.owns_lock()) {  // else the reference of the last cycle once more
            reference_ = received_;
            lock.unlock();
        }
        DrivenArray position{}, velocity{}, effort{};
        for (std::size_t k = 0; k < position.size(); k++) {
            position[k] = state_interfaces_[2 * k].get_value();
            velocity[k] = state_interfaces_[2 * k + 1].get_value();
        }
        const int status = law_.step(position, velocity, reference_, effort);
        for (std::size_t k = 0; k < effort.size(); k++) command_interfaces_[k].set_value(effort[k]);
        if (status != POLYPOD_OK) {
            RCLCPP_ERROR(get_node()->get_logger(), "no effort: status %d of polypod (see safe_step.hpp)", status);
            return return_type::ERROR;
        }
        return return_type::OK;
    }

private:
    ComputedTorque law_;
    Reference reference_, received_;
    std::mutex mutex_;
    rclcpp::Subscription<JointTrajectory>::SharedPtr subscription_;

    static InterfaceConfiguration interfaces(const std::vector<std::string> &kinds)
    {
        InterfaceConfiguration found{interface_configuration_type::INDIVIDUAL, {}};
        for (const char *joint : driven_joints)
            for (const auto &kind : kinds) found.names.push_back(std::string(joint) + "/" + kind);
        return found;
    }

    void receive(const JointTrajectory &message)
    {
        if (message.points.empty()) return;
        const auto &point = message.points.front();
        Reference next;
        for (std::size_t k = 0; k < driven_joints.size(); k++) {
            const auto at = std::find(message.joint_names.begin(), message.joint_names.end(), driven_joints[k]);
            const auto index = static_cast<std::size_t>(at - message.joint_names.begin());
            if (at == message.joint_names.end() || index >= point.positions.size()) {
                RCLCPP_WARN(get_node()->get_logger(), "no position of driven joint '%s'", driven_joints[k]);
                return;
            }
            next.position[k] = point.positions[index];
            if (index < point.velocities.size()) next.velocity[k] = point.velocities[index];
            if (index < point.accelerations.size()) next.acceleration[k] = point.accelerations[index];
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        received_ = next;
    }
};

}  // namespace @PACKAGE@

PLUGINLIB_EXPORT_CLASS(@PACKAGE@::ComputedTorqueController, controller_interface::ControllerInterface)
