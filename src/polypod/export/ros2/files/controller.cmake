
find_package(controller_interface QUIET)
find_package(trajectory_msgs QUIET)
if(pluginlib_FOUND AND controller_interface_FOUND AND trajectory_msgs_FOUND)
  add_library(${PROJECT_NAME}_controller SHARED src/computed_torque_controller.cpp)
  target_include_directories(${PROJECT_NAME}_controller PRIVATE include)
  target_link_libraries(${PROJECT_NAME}_controller
    ${controller_interface_TARGETS} pluginlib::pluginlib rclcpp::rclcpp ${trajectory_msgs_TARGETS})
  install(TARGETS ${PROJECT_NAME}_controller DESTINATION lib)
  pluginlib_export_plugin_description_file(controller_interface controller_plugin.xml)
endif()
