/** The folder cannot be taken; the message says why, and what to do. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse';
}

/** The embedded log could not be copied. `isFull`: for want of room. The message has the database's reason. */
export class LogNotCopied extends Error {
  override readonly name = 'LogNotCopied';
  readonly isFull: boolean;
  constructor(reason: string, { isFull }: { readonly isFull: boolean }) {
    super(`the event log could not be copied: ${reason}`);
    this.isFull = isFull;
  }
}

/** What a data folder says of the process that has it, or had it last. */
export interface FolderOwner {
  /** undefined: nobody has written anything; a member: that was not written down. */
  readonly owner:
    | {
        readonly pid: number;
        readonly host: string | undefined;
        /** In ticks of the system's clock: tells the process from a later one of its number. */
        readonly started: string | undefined;
        /** Where its number means that process: one run of one system, and in it one container. */
        readonly realm: string | undefined;
      }
    | undefined;
  /** The lock was renewed a moment ago: whoever has it lives. */
  readonly isLocked: boolean;
  /** The owner is a process of this machine. */
  readonly isHere: boolean;
  /** It runs, as far as that can be told here. */
  readonly isRunning: boolean;
  /** How the process was started; empty where that is not known. */
  readonly command: string;
  /** A restore is not finished. */
  readonly isRestoring: boolean;
}
