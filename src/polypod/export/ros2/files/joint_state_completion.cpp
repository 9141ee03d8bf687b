// Node that completes joint states: driven joints in, all joints of the URDF out. Written by polypod.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "@PACKAGE@/completion.hpp"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/joint_state.hpp"

using sensor_msgs::msg::JointState;

class JointStateCompletion : public rclcpp::Node {
public:
    JointStateCompletion() : Node("joint_state_completion")
    {
        publisher_ = create_publisher<JointState>("joint_states", 10);
        subscription_ = create_subscription<JointState>(
            "driven_joint_states", 10, [this](const JointState &message) { complete(message); });
    }

private:
    void complete(const JointState &message)
    {
        std::array<double, @PACKAGE@::driven_joints.size()> driven{}, driven_rates{};
        bool moving = true;  // whether all driven joints have a velocity
        for (std::size_t k = 0; k < driven.size(); k++) {
            const auto at = std::find(message.name.begin(), message.name.end(), @PACKAGE@::driven_joints[k]);
            const auto index = static_cast<std::size_t>(at - message.name.begin());
            if (at == message.name.end() || index >= message.position.size()) {
                RCLCPP_WARN(get_logger(), "no position of driven joint '%s'", @PACKAGE@::driven_joints[k]);
                return;
            }
            driven[k] = message.position[index];
            moving = moving && index < message.velocity.size();
            if (moving) driven_rates[k] = message.velocity[index];
        }
        std::array<double, @PACKAGE@::joints.size()> positions{}, rates{};
        const bool found = moving ? completion_.update(driven, driven_rates, positions, rates)
                                  : completion_.update(driven, positions);
        if (!found) {
            RCLCPP_WARN(get_logger(), "no pose near the last one has these positions of the driven joints");
            return;
        }
        JointState all;
        all.header = message.header;
        all.name.assign(@PACKAGE@::joints.begin(), @PACKAGE@::joints.end());
        all.position.assign(positions.begin(), positions.end());
        if (moving) all.velocity.assign(rates.begin(), rates.end());
        publisher_->publish(all);
    }

    @PACKAGE@::Completion completion_;
    rclcpp::Publisher<JointState>::SharedPtr publisher_;
    rclcpp::Subscription<JointState>::SharedPtr subscription_;
};

int main(int argc, char **argv)
{
    rclcpp::init(argc, argv);
    rclcpp::spin(std::make_shared<JointStateCompletion>());
    rclcpp::shutdown();
    return 0;
}
