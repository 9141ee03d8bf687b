// Inverse dynamics of a platform on legs of three joints each, as an expert writes it with Pinocchio in C++: the tree's
// coordinates are given; rates and accelerations of the legs, rnea, and the projection on the platform's degrees of freedom are
// computed here, the loops leg by leg (3 x 3). That is less than polypod does, which finds the legs' coordinates too.
#include <vector>

#include <Eigen/LU>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>

namespace {

struct Robot {
  pinocchio::Model model;
  pinocchio::Data data;
  std::vector<long> first, second, column, drive;  // of each leg: its frames that meet, its first joint, its actuator
};

}  // namespace

extern "C" Robot *robot_new(const char *file, long legs, const long *numbers) {
  auto *robot = new Robot;
  robot->model.loadFromText(file);
  robot->data = pinocchio::Data(robot->model);
  for (long k = 0; k < legs; k++) {
    robot->first.push_back(numbers[4 * k]);
    robot->second.push_back(numbers[4 * k + 1]);
    robot->column.push_back(numbers[4 * k + 2]);
    robot->drive.push_back(numbers[4 * k + 3]);
  }
  return robot;
}

// q (nq); head, rate (6): twist of the platform and its derivative in platform axes; force (legs)
extern "C" void robot_inverse(Robot *robot, const double *q_, const double *head_, const double *rate_, double *force_) {
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  auto &model = robot->model;
  auto &data = robot->data;
  const Eigen::Map<const Eigen::VectorXd> q(q_, model.nq);
  const Eigen::Map<const Vector6> head(head_), rate(rate_);
  const auto aligned = pinocchio::LOCAL_WORLD_ALIGNED;
  const long legs = static_cast<long>(robot->first.size());

  thread_local Eigen::VectorXd v, a, still;
  thread_local Eigen::Matrix<double, 6, Eigen::Dynamic> one, two;
  thread_local std::vector<Eigen::Matrix<double, 3, 6>> motion;
  v.setZero(model.nv), a.setZero(model.nv), still.setZero(model.nv);
  motion.resize(legs);
  pinocchio::computeJointJacobians(model, data, q);
  pinocchio::updateFramePlacements(model, data);
  v.head<6>() = head;
  std::vector<Eigen::Matrix3d> inverse(legs);
  for (long k = 0; k < legs; k++) {
    one.setZero(6, model.nv), two.setZero(6, model.nv);
    pinocchio::getFrameJacobian(model, data, robot->first[k], aligned, one);
    pinocchio::getFrameJacobian(model, data, robot->second[k], aligned, two);
    const long at = robot->column[k];
    const Eigen::Matrix3d own = one.block<3, 3>(0, at) - two.block<3, 3>(0, at);
    inverse[k] = own.inverse();
    motion[k] = -inverse[k] * (one.block<3, 6>(0, 0) - two.block<3, 6>(0, 0));
    v.segment<3>(at) = motion[k] * head;
  }
  pinocchio::forwardKinematics(model, data, q, v, still);
  a.head<6>() = rate;
  for (long k = 0; k < legs; k++) {
    const Eigen::Vector3d drift =
        pinocchio::getFrameClassicalAcceleration(model, data, robot->first[k], aligned).linear() -
        pinocchio::getFrameClassicalAcceleration(model, data, robot->second[k], aligned).linear();
    a.segment<3>(robot->column[k]) = motion[k] * rate - inverse[k] * drift;
  }
  const Eigen::VectorXd &torque = pinocchio::rnea(model, data, q, v, a);
  Vector6 wanted = torque.head<6>();
  Eigen::Matrix<double, 6, 6> drives;
  for (long k = 0; k < legs; k++) {
    wanted += motion[k].transpose() * torque.segment<3>(robot->column[k]);
    drives.col(k) = motion[k].row(robot->drive[k] - robot->column[k]).transpose();
  }
  Eigen::Map<Vector6> force(force_);
  force = drives.partialPivLu().solve(wanted);
}

extern "C" void robot_many(Robot *robot, long n, const double *q, const double *head, const double *rate, double *force) {
  for (long i = 0; i < n; i++)
    robot_inverse(robot, q + i * robot->model.nq, head + 6 * i, rate + 6 * i, force + 6 * i);
}
