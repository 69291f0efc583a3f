/** Exit code of the program that copies the log when the disk is full: no code of Node's own. */
export const NO_ROOM = 28;
