# Sources of the PTX front end.
