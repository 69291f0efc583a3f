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
