/** Says which log this is: its first event is `LogOpened`. */
export const LOG_STREAM = '$quire';

/** Every seal of the log, chained over all earlier ones. */
export const SEALS_STREAM = '$seals';

/** Snapshots of accounts on EventStoreDB are kept in streams `accountSnapshot-<tenant>`. */
export const SNAPSHOT_CATEGORY = 'accountSnapshot';

/** Streams that tell about the log itself; the audit reads them too. */
export const OWN_STREAMS: readonly string[] = [LOG_STREAM, SEALS_STREAM];

/** True for a stream about the log itself. */
export const isOwn = (stream: string): boolean => OWN_STREAMS.includes(stream);

/** True for a stream that a feed leaves out unless it is asked for: of a server, about the log, of snapshots. */
export const isHidden = (stream: string): boolean =>
  stream.startsWith('$') || stream === SNAPSHOT_CATEGORY || stream.startsWith(`${SNAPSHOT_CATEGORY}-`);

/** True for a stream that a feed with these options leaves out, whatever the categories. */
export const isLeftOut = (stream: string, { own = false }: { readonly own?: boolean }): boolean =>
  isHidden(stream) && !(own && isOwn(stream));
