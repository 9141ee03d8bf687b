// Computed torque for the driven joints of '@ROBOT@', limits and singularities guarded. Written by polypod; no ROS.
#ifndef @GUARD@_COMPUTED_TORQUE
#define @GUARD@_COMPUTED_TORQUE

#include <array>
#include <cstddef>

#include "@PACKAGE@/completion.hpp"
#include "@PACKAGE@/@SAFE_STEP@.hpp"

namespace @PACKAGE@ {

using DrivenArray = std::array<double, @DRIVES@>;

/// Reference of the driven joints: positions, rates and accelerations.
struct Reference {
    DrivenArray position{}, velocity{}, acceleration{};
};

/// Effort = inverse dynamics of the accelerations qddot_ref + kd (qdot_ref - qdot) + kp (q_ref - q).
class ComputedTorque {
public:
    DrivenArray kp, kd;

    /// Gains of a natural frequency [rad/s] with critical damping.
    explicit ComputedTorque(double frequency = 31.4)
    {
        kp.fill(frequency * frequency);
        kd.fill(2.0 * frequency);
    }

    /// Efforts of the driven joints for a state. Returns POLYPOD_OK, or why there are none: a limit of the robot is
    /// exceeded, a singularity is near, no pose was found. The efforts are zero then.
    int step(const DrivenArray &position, const DrivenArray &velocity, const Reference &reference, DrivenArray &effort)
    {
        DrivenArray q{}, qdot{}, qddot{};
        for (std::size_t k = 0; k < q.size(); k++) {
            const double ratio = Completion::ratio[k];
            q[k] = Completion::home_q[k] + ratio * position[k];
            qdot[k] = ratio * velocity[k];
            qddot[k] = ratio
                * (reference.acceleration[k] + kd[k] * (reference.velocity[k] - velocity[k])
                    + kp[k] * (reference.position[k] - position[k]));
        }
        const auto found = polypod::@SPACE@::safe_step(q, pose_, qdot, qddot, {});
        effort.fill(0.0);
        if (found.status != POLYPOD_OK) return found.status;
        pose_ = found.pose_found;
        for (std::size_t k = 0; k < effort.size(); k++) effort[k] = Completion::ratio[k] * found.force[k];
        return POLYPOD_OK;
    }

    /// Start again from home.
    void reset() { pose_ = Completion::home_pose; }

private:
    std::array<double, 16> pose_ = Completion::home_pose;
};

}  // namespace @PACKAGE@

#endif
