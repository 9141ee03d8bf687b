// Positions of all joints of the URDF of '@ROBOT@' from those of its driven ones. Written by polypod.
#ifndef @GUARD@
#define @GUARD@

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

@INCLUDES@
namespace @PACKAGE@ {

/// Driven joints of the URDF, in the order of the robot's actuators.
inline constexpr std::array<const char *, @DRIVES@> driven_joints = {@DRIVEN@};

/// Joints of the URDF that move.
inline constexpr std::array<const char *, @COUNT@> joints = {
@JOINTS@};

/// Finds the positions of all joints; keeps the last pose, from which forward kinematics starts.
class Completion {
public:
    /// Position [m or rad] of every joint from those of the driven ones; false, and nothing changes, where there is no
    /// solution near the last one.
    bool update(const std::array<double, @DRIVES@> &driven, std::array<double, @COUNT@> &positions)
    {
        std::array<double, @DRIVES@> q{};
        for (std::size_t k = 0; k < q.size(); k++) q[k] = home_q[k] + ratio[k] * driven[k];
        const auto found = polypod::@SPACE@::forward_kinematics_along(q, pose_);
        if (found.status != POLYPOD_OK || !at(found.pose_found, positions)) return false;
        pose_ = found.pose_found;
        return true;
    }

    /// The same with the rates [m/s or rad/s] of all joints from those of the driven ones.
    bool update(const std::array<double, @DRIVES@> &driven, const std::array<double, @DRIVES@> &driven_rates,
        std::array<double, @COUNT@> &positions, std::array<double, @COUNT@> &rates)
    {
        if (!update(driven, positions)) return false;
        std::array<double, @DRIVES@> qdot{};
        for (std::size_t k = 0; k < qdot.size(); k++) qdot[k] = ratio[k] * driven_rates[k];
        const auto found = polypod::@SPACE@::twist(pose_, qdot);
        if (found.status != POLYPOD_OK) return false;
        const auto joint = polypod::@SPACE@::joint_rates(pose_, found.twist);
        if (joint.status != POLYPOD_OK) return false;
@RATES@        return hinge_rates(found.twist, positions, rates);
    }

    /// Start again from home.
    void reset() { pose_ = home_pose; }

    /// Pose of the platform of the last update, 4x4 by rows.
    const std::array<double, 16> &pose() const { return pose_; }

    static constexpr std::array<double, 16> home_pose = {@HOME@};
    static constexpr std::array<double, @DRIVES@> home_q = {@HOME_Q@}; ///< actuated coordinates at home
    static constexpr std::array<double, @DRIVES@> ratio = {@RATIO@}; ///< actuated coordinate per driven joint

private:
    std::array<double, 16> pose_ = home_pose;

    /// Positions of all joints at a pose of the platform.
    static bool at(const std::array<double, 16> &pose, std::array<double, @COUNT@> &positions)
    {
        const auto joint = polypod::@SPACE@::joint_positions(pose);
        const auto body = polypod::@SPACE@::bodies(pose);
        if (joint.status != POLYPOD_OK || body.status != POLYPOD_OK) return false;
        std::array<double, @BODIES@> frames{};  // platform, then the bodies of the legs
        std::copy(pose.begin(), pose.end(), frames.begin());
        std::copy(body.bodies.begin(), body.bodies.end(), frames.begin() + 16);
@ASSIGN@        return true;
    }

    /// Rates of the hinges that spherical joints are, by central differences of fourth order along the motion.
    bool hinge_rates(const std::array<double, 6> &twist, const std::array<double, @COUNT@> &positions,
        std::array<double, @COUNT@> &rates) const
    {
        static constexpr std::array<std::size_t, @BALLS@> hinges = {@HINGES@};
        static constexpr double step = 1e-4, weights[4] = {1.0, -8.0, 8.0, -1.0}, times[4] = {-2.0, -1.0, 1.0, 2.0};
        double fastest = 1.0;  // the step is a change of the pose, not a time
        for (const double part : twist) fastest = std::max(fastest, std::abs(part));
        for (const std::size_t hinge : hinges) rates[hinge] = 0.0;
        for (int k = 0; k < 4 && !hinges.empty(); k++) {
            std::array<double, @COUNT@> there{};
            if (!at(moved(twist, times[k] * step / fastest), there)) return false;
            for (const std::size_t hinge : hinges)
                rates[hinge] += weights[k] * std::remainder(there[hinge] - positions[hinge], 6.283185307179586)
                    / (12.0 * step / fastest);
        }
        return true;
    }

    /// The pose after a time with a constant twist.
    std::array<double, 16> moved(const std::array<double, 6> &u, double time) const
    {
        const double speed = std::sqrt(u[3] * u[3] + u[4] * u[4] + u[5] * u[5]), half = 0.5 * speed * time;
        const double by = speed > 0.0 ? std::sin(half) / speed : 0.0;  // half the turn as a quaternion w, x, y, z
        const double w = std::cos(half), x = by * u[3], y = by * u[4], z = by * u[5];
        const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
        std::array<double, 16> found = pose_;
        for (std::size_t i = 0; i < 3; i++) {
            for (std::size_t j = 0; j < 3; j++)
                found[4 * i + j] = r[3 * i] * pose_[j] + r[3 * i + 1] * pose_[4 + j] + r[3 * i + 2] * pose_[8 + j];
            found[4 * i + 3] += u[i] * time;
        }
        return found;
    }

    /// Angle about x, y or z (0, 1, 2) of a spherical joint as three hinges: how its second body has turned from home,
    /// against its first. A body below 0 is the base.
    static double angle(const std::array<double, @BODIES@> &bodies, int first, int second, int axis)
    {
        double a[9], b[9], t[9];
        turned(bodies, first, a);
        turned(bodies, second, b);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) t[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
        if (axis == 0) return std::atan2(-t[5], t[8]);
        if (axis == 1) return std::atan2(t[2], std::hypot(t[5], t[8]));
        return std::atan2(-t[1], t[0]);
    }

    /// Rotation of a body from home, base axes, by rows.
    static void turned(const std::array<double, @BODIES@> &bodies, int body, double *r)
    {
        static constexpr std::array<double, @BODIES@> home = {@HOME_BODIES@};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                r[3 * i + j] = body < 0 ? (i == j ? 1.0 : 0.0) : 0.0;
                for (int k = 0; k < 3 && body >= 0; k++)
                    r[3 * i + j] += bodies[16 * body + 4 * i + k] * home[16 * body + 4 * j + k];
            }
    }
};

}  // namespace @PACKAGE@

#endif
