# Unpacks ARCHIVE into FOLDER, unless that was done since the archive was written.
set(stamp ${FOLDER}/.unpacked)
if(NOT EXISTS ${stamp} OR ${ARCHIVE} IS_NEWER_THAN ${stamp})
  file(REMOVE_RECURSE ${FOLDER})
  file(ARCHIVE_EXTRACT INPUT ${ARCHIVE} DESTINATION ${FOLDER})
  file(TOUCH ${stamp})
endif()
