"""Where programs look for exceptions, enumerations and the classes behind sessions, and by its file name for the library."""
