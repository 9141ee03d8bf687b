"""Workspaces: maps over coordinates, the whole workspace counted, travel by axis and together, tilt by height."""

from .full import dexterous, full_workspace, reachable
from .maps import constant_orientation, orientations_at, workspace_map
from .pose_coordinates import PoseCoordinates, Requirements, WorkspaceTest
from .survey import survey
from .travel import straight_reach, surface_triangles, tilt_by_height, travel

__all__ = [
    "PoseCoordinates",
    "Requirements",
    "WorkspaceTest",
    "constant_orientation",
    "dexterous",
    "full_workspace",
    "orientations_at",
    "reachable",
    "straight_reach",
    "surface_triangles",
    "survey",
    "tilt_by_height",
    "travel",
    "workspace_map",
]
