// Kinematics of '@ROBOT@' by the positions of its driven joints: poses of links, Jacobian. Written by polypod; no ROS.
#ifndef @GUARD@_KINEMATICS
#define @GUARD@_KINEMATICS

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "@PACKAGE@/completion.hpp"

namespace @PACKAGE@ {

/// Links of the URDF that are bodies, the platform first; then the frame of the platform and the base.
inline constexpr std::array<const char *, @LINK_COUNT@> links = {
@LINKS@};
inline constexpr std::size_t platform_link = 0, platform_frame = @BODY_COUNT@, base_link = @BODY_COUNT@ + 1;

/// Degrees of freedom of the platform.
inline constexpr std::size_t degrees_of_freedom = @DOF@;

class Kinematics {
public:
    /// Number of a link by its name; -1 for one that is no body of its own.
    static int link(const char *name)
    {
        for (std::size_t k = 0; k < links.size(); k++)
            if (std::strcmp(links[k], name) == 0) return static_cast<int>(k);
        return -1;
    }

    /// Finds the pose of the platform for positions of the driven joints, from the last one or else from home.
    bool set(const std::array<double, @DRIVES@> &driven)
    {
        std::array<double, @DRIVES@> q{};
        for (std::size_t k = 0; k < q.size(); k++) q[k] = Completion::home_q[k] + Completion::ratio[k] * driven[k];
        auto found = polypod::@SPACE@::forward_kinematics_along(q, pose_);
        if (found.status != POLYPOD_OK) found = polypod::@SPACE@::forward_kinematics_along(q, Completion::home_pose);
        if (found.status != POLYPOD_OK) return false;
        const auto body = polypod::@SPACE@::bodies(found.pose_found);
        if (body.status != POLYPOD_OK) return false;
        pose_ = found.pose_found;
        std::copy(pose_.begin(), pose_.end(), frames_.begin());
        std::copy(body.bodies.begin(), body.bodies.end(), frames_.begin() + 16);
        return true;
    }

    /// Pose (4x4 by rows) of a link in the base frame.
    std::array<double, 16> link_pose(std::size_t link) const
    {
        static constexpr std::array<std::size_t, @BODY_COUNT@> body_of = {@BODY_OF@};
        static constexpr std::array<double, 16 * @BODY_COUNT@> own = {@IN_BODY@};  // link in its body's frame
        std::array<double, 16> found{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
        if (link == platform_frame) return pose_;
        if (link >= base_link) return found;
        const double *body = &frames_[16 * body_of[link]], *local = &own[16 * link];
        for (std::size_t i = 0; i < 3; i++)
            for (std::size_t j = 0; j < 4; j++) {
                found[4 * i + j] = j == 3 ? body[4 * i + 3] : 0.0;
                for (std::size_t k = 0; k < 3; k++) found[4 * i + j] += body[4 * i + k] * local[4 * k + j];
            }
        return found;
    }

    /// Jacobian (6 by driven joints, by rows): velocity of a link of the platform at its origin and angular velocity,
    /// base axes, from the rates of the driven joints. False for other links and in singular positions.
    bool jacobian(std::size_t link, std::array<double, 6 * @DRIVES@> &matrix) const
    {
        if (link != platform_link && link != platform_frame) return false;
        const auto at = link_pose(link);
        const double arm[3] = {at[3] - pose_[3], at[7] - pose_[7], at[11] - pose_[11]};
        for (std::size_t k = 0; k < @DRIVES@; k++) {
            std::array<double, @DRIVES@> qdot{};
            qdot[k] = Completion::ratio[k];
            const auto found = polypod::@SPACE@::twist(pose_, qdot);
            if (found.status != POLYPOD_OK) return false;
            const auto &u = found.twist;
            const double turned[3] = {u[4] * arm[2] - u[5] * arm[1], u[5] * arm[0] - u[3] * arm[2],
                u[3] * arm[1] - u[4] * arm[0]};
            for (std::size_t i = 0; i < 6; i++) matrix[@DRIVES@ * i + k] = u[i] + (i < 3 ? turned[i] : 0.0);
        }
        return true;
    }

    /// Pose of the platform frame of the last call of set.
    const std::array<double, 16> &pose() const { return pose_; }

private:
    std::array<double, 16> pose_ = Completion::home_pose;
    std::array<double, @BODIES@> frames_{};
};

}  // namespace @PACKAGE@

#endif
