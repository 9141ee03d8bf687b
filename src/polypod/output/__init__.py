"""Files that are written: whole or not at all, under safe names, with checksums; labelled arrays as netCDF."""
