import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { Metadata, status as grpcStatus } from '@grpc/grpc-js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { StoredEvent } from './doubleLog.ts';
import type { Faults } from './faults.ts';
import { type Leader, type NodeView, notLeader } from './node.ts';
import * as messages from './messages.ts';

type Call = ServerWritableStream<ReadReq, ReadResp>;

/** What the handler of reads works on. */
export interface Reading {
  readonly log: NodeView;
  /** Where the leader is; undefined: it is this node. */
  readonly leader: () => Leader | undefined;
  /** Counts reads, those that were refused because another node leads among them. */
  readonly asked: (isRefused: boolean) => void;
  readonly faults: Pick<Faults, 'denied' | 'mayGoOn' | 'refuseLogin'>;
  /** How its release tells where a subscription stands. */
  readonly marks: messages.Marks;
  /** Open subscriptions, to be ended gracefully. */
  readonly subscriptions: Set<Call>;
}

/** `Streams/Read`: a stream or `$all`, a count or a subscription. */
export const read =
  ({ log, leader, asked, faults, marks, subscriptions }: Reading) =>
  (call: Call): void => {
    const options = call.request.getOptions();
    call.on('error', () => undefined);
    if (options === undefined) {
      refuse(call, grpcStatus.INVALID_ARGUMENT, 'no options');
      return;
    }
    if (faults.refuseLogin) {
      refuse(call, grpcStatus.UNAUTHENTICATED, 'Received HTTP status code 401');
      return;
    }
    const other = call.metadata.get('requires-leader')[0] === 'true' ? leader() : undefined;
    asked(other !== undefined);
    if (other !== undefined) {
      call.emit('error', notLeader(other));
      return;
    }
    const name = options.hasAll() ? '$all' : messages.streamName(options.getStream()?.getStreamIdentifier());
    if (faults.denied.has(`read ${name}`)) {
      const metadata = new Metadata();
      metadata.set('exception', 'access-denied');
      call.emit('error', { code: grpcStatus.PERMISSION_DENIED, details: 'Access Denied', metadata });
      return;
    }
    if (!options.hasSubscription()) {
      void sendAll(call, selected(log, options), goingOn(call, faults));
      return;
    }
    if (!options.hasAll()) {
      refuse(call, grpcStatus.UNIMPLEMENTED, 'only $all is subscribed to');
      return;
    }

    subscriptions.add(call);
    const forget = () => void subscriptions.delete(call);
    call.on('cancelled', forget);
    void subscribe(call, { log, options, marks, goesOn: goingOn(call, faults) }).then(forget, forget);
  };

const refuse = (call: Call, code: grpcStatus, details: string): void =>
  void call.emit('error', { code, details });

const isOpen = (call: Call): boolean => !call.cancelled && !call.destroyed && !call.writableEnded;

const send = async (call: Call, message: ReadResp): Promise<void> => {
  if (!isOpen(call) || call.write(message)) return;
  const gone = new AbortController();
  const leave = () => gone.abort();
  call.once('cancelled', leave).once('close', leave).once('finish', leave);
  await once(call, 'drain', { signal: gone.signal }).catch(() => undefined);
  call.off('cancelled', leave).off('close', leave).off('finish', leave);
};

/** Whether a call that has sent so many events takes another message; waits while it is halted. */
type GoesOn = (sentEvents: number) => Promise<boolean>;

const goingOn =
  (call: Call, { mayGoOn }: Reading['faults']): GoesOn =>
  async (sentEvents) => {
    await mayGoOn(sentEvents);
    return isOpen(call);
  };

const sendAll = async (call: Call, messagesToSend: readonly ReadResp[], goesOn: GoesOn): Promise<void> => {
  for (const [sent, message] of messagesToSend.entries()) {
    if (!(await goesOn(sent))) return;
    await send(call, message);
  }
  if (await goesOn(messagesToSend.length)) call.end();
};

const { BACKWARDS } = streamsPb.ReadReq.Options.ReadDirection;

const selected = (log: NodeView, options: ReadReq.Options): readonly ReadResp[] => {
  const name = messages.streamName(options.getStream()?.getStreamIdentifier());
  const source = options.hasAll() ? log.all() : log.visible(name);
  if (!options.hasAll() && source.length === 0) {
    const notFound = new streamsPb.ReadResp.StreamNotFound();
    notFound.setStreamIdentifier(messages.streamIdentifier(name));
    return [new streamsPb.ReadResp().setStreamNotFound(notFound)];
  }
  const from = options.hasAll() ? fromPosition(options) : fromRevision(options);
  const place = (event: StoredEvent) => (options.hasAll() ? event.position : event.revision);
  const backwards = options.getReadDirection() === BACKWARDS;
  const inRange = source.filter((event) => (backwards ? place(event) <= from : place(event) >= from));
  const ordered = backwards ? inRange.reverse() : inRange;
  return ordered.slice(0, Math.min(Number(options.getCount()), ordered.length)).map(messages.readEvent);
};

const fromRevision = (options: ReadReq.Options): number => {
  const stream = options.getStream();
  if (stream?.hasEnd() === true) return Infinity;
  return stream?.hasStart() === true ? -1 : Number(stream?.getRevision() ?? 0);
};

const fromPosition = (options: ReadReq.Options): number => {
  const all = options.getAll();
  if (all?.hasEnd() === true) return Infinity;
  return all?.hasStart() === true ? -1 : Number(all?.getPosition()?.getCommitPosition() ?? 0);
};

/** Events considered per checkpoint: the interval the client asks for times this window. */
const SEARCH_WINDOW = 32;

/** So many events at once are read from the log again: a live subscription falls behind, and catches up. */
const BEHIND = 64;

interface Subscribing {
  readonly log: NodeView;
  readonly options: ReadReq.Options;
  readonly marks: messages.Marks;
  readonly goesOn: GoesOn;
}

/** Waits at the log's end for more; gives whether the subscription is live. */
const atEnd = async (
  call: Call,
  { log, options, marks }: Subscribing,
  { index, live }: { readonly index: number; readonly live: boolean },
): Promise<boolean> => {
  if (!live) await goLive(call, marks, options.hasFilter() ? log.all().at(-1) : undefined);
  await grownOrGone(call, log, index);
  if (log.all().length - index < BEHIND) return true;
  await send(call, marks.fellBehind(log.all()[index - 1]?.position));
  return false;
};

const subscribe = async (call: Call, subscribing: Subscribing): Promise<void> => {
  const { log, options, marks, goesOn } = subscribing;
  const matches = matcher(options);
  const interval = (options.getFilter()?.getCheckpointintervalmultiplier() ?? 0) * SEARCH_WINDOW;
  let index = startIndex(log.all(), fromPosition(options));
  let considered = 0;
  let sent = 0;
  let live = false;

  const confirmation = new streamsPb.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID());
  await send(call, new streamsPb.ReadResp().setConfirmation(confirmation));
  while (await goesOn(sent)) {
    const event = log.all()[index];
    if (event === undefined) {
      live = await atEnd(call, subscribing, { index, live });
      continue;
    }
    index += 1;
    considered += 1;
    if (matches(event)) {
      await send(call, messages.readEvent(event));
      sent += 1;
    }
    if (interval > 0 && considered % interval === 0) await send(call, marks.checkpoint(event.position));
  }
};

const startIndex = (all: readonly StoredEvent[], after: number): number => {
  const index = all.findIndex(({ position }) => position > after);
  return index === -1 ? all.length : index;
};

/** `last`: the event at which a filtered subscription that has nothing more to come puts a checkpoint. */
const goLive = async (call: Call, marks: messages.Marks, last: StoredEvent | undefined): Promise<void> => {
  if (last !== undefined) await send(call, marks.checkpoint(last.position));
  await send(call, marks.caughtUp(last?.position));
};

const grownOrGone = async (call: Call, log: NodeView, length: number): Promise<void> => {
  let leave: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (leave = resolve));
  call.once('cancelled', leave).once('finish', leave).once('close', leave);
  await Promise.race([log.grown(length), gone]);
  call.off('cancelled', leave).off('finish', leave).off('close', leave);
};

const matcher = (options: ReadReq.Options): ((event: StoredEvent) => boolean) => {
  const filter = options.getFilter();
  if (filter === undefined) return () => true;
  const onStream = filter.hasStreamIdentifier();
  const expression = onStream ? filter.getStreamIdentifier() : filter.getEventType();
  const prefixes = expression?.getPrefixList() ?? [];
  const regex = prefixes.length > 0 ? undefined : new RegExp(expression?.getRegex() ?? '');
  return ({ stream, type }) => {
    const text = onStream ? stream : type;
    return regex?.test(text) ?? prefixes.some((prefix) => text.startsWith(prefix));
  };
};
