/** How far a learned target may be followed in documents of one side. */
export interface Side {
  /** From this chance on of being right, 0..1; above 1 never. */
  readonly from: number;
  readonly mayRefuse: boolean;
}

/** Where a learned target speaks: in layouts of the examples, and in others. Elsewhere the rules do. */
export interface Gate {
  readonly known: Side;
  readonly unseen: Side;
}

/** No chance is as high. */
export const NEVER = 2;
export const SILENT: Side = { from: NEVER, mayRefuse: false };

export const isSpeaking = ({ from, mayRefuse }: Side): boolean => from < NEVER || mayRefuse;
