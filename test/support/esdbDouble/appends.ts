import type { ServerDuplexStream, ServerReadableStream, sendUnaryData } from '@grpc/grpc-js';
import { Metadata, status as grpcStatus } from '@grpc/grpc-js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import type { DoubleLog, Expected, ProposedEvent, Verdict } from './doubleLog.ts';
import type { AppendFault, Faults } from './faults.ts';
import * as messages from './messages.ts';

/** What the handlers of appends work on. */
export interface Appending {
  readonly log: DoubleLog;
  readonly faults: Faults;
  /** Cuts every connection, or kills the process. */
  readonly die: () => void;
}

interface Request {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly ProposedEvent[];
}

interface Answers {
  readonly verdict: (verdict: Verdict) => void;
  readonly denied: () => void;
  readonly notReady: () => void;
}

/** Rights come before revisions, as on the server. */
const isDenied = ({ denied, refuseAppendsTo }: Faults, stream: string): boolean =>
  denied.has(`append ${stream}`) || refuseAppendsTo?.test(stream) === true;

/** Commits, or not, and answers, or not, as the next fault says. */
const commit = ({ log, faults, die }: Appending, request: Request, answers: Answers): void => {
  const fault = faults.takeAppendFault();
  if (fault?.kind === 'silence') return;
  if (fault?.kind === 'not_ready') {
    answers.notReady();
    return;
  }
  if (isDenied(faults, request.stream)) {
    answers.denied();
    return;
  }
  const verdict = log.append(request.stream, request.expected, request.events);
  if (fault?.kind === 'die_after_commit') die();
  else if (fault?.kind !== 'commit_silently')
    log.synced(() => after(delayOf(fault, faults), () => answerAs(fault, verdict, answers)));
};

const delayOf = (fault: AppendFault | undefined, { delayMs }: Faults): number =>
  fault?.kind === 'late' ? fault.ms : delayMs;

const after = (ms: number, work: () => void): void => {
  if (ms === 0) work();
  else setTimeout(work, ms);
};

const answerAs = (fault: AppendFault | undefined, verdict: Verdict, answers: Answers): void => {
  const bare = fault?.kind === 'no_position' && verdict.kind === 'ok';
  answers.verdict(bare ? { ...verdict, position: undefined } : verdict);
  if (fault?.kind === 'twice') answers.verdict(verdict);
};

const MAX_APPEND_BYTES = 1024 * 1024;

/** `Streams/BatchAppend`: many appends on one stream, chunks joined by correlation ID. */
export const batchAppend =
  (appending: Appending) => (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>) => {
    const open = new Map<
      string,
      { readonly request: Omit<Request, 'events'>; readonly events: ProposedEvent[] }
    >();

    call.on('data', (chunk: BatchAppendReq) => {
      const correlation = chunk.getCorrelationId()?.getString() ?? '';
      const options = chunk.getOptions();
      const entry = open.get(correlation) ?? { request: batchTarget(options), events: [] };
      open.set(correlation, entry);
      for (const message of chunk.getProposedMessagesList()) entry.events.push(proposed(message));
      if (!chunk.getIsFinal()) return;
      open.delete(correlation);

      const send = (fill: (response: BatchAppendResp) => void) => {
        const response = new streamsPb.BatchAppendResp();
        response.setCorrelationId(new sharedPb.UUID().setString(correlation));
        response.setStreamIdentifier(messages.streamIdentifier(entry.request.stream));
        fill(response);
        if (!call.cancelled && !call.destroyed) call.write(response);
      };
      commit(
        appending,
        { ...entry.request, events: entry.events },
        {
          verdict: (verdict) => send((response) => fillBatch(response, verdict)),
          denied: () => send((response) => void response.setError(messages.accessDenied())),
          notReady: () => send((response) => void response.setError(messages.notReady())),
        },
      );
    });
    call.on('end', () => call.end());
    call.on('error', () => undefined);
  };

const batchTarget = (options: BatchAppendReq.Options | undefined): Omit<Request, 'events'> => {
  const stream = messages.streamName(options?.getStreamIdentifier());
  if (options?.hasAny() === true) return { stream, expected: 'any' };
  if (options?.hasStreamExists() === true) return { stream, expected: 'stream_exists' };
  if (options?.hasNoStream() === true) return { stream, expected: 'no_stream' };
  return { stream, expected: Number(options?.getStreamPosition() ?? 0) };
};

type ProposedMessage = BatchAppendReq.ProposedMessage | AppendReq.ProposedMessage;

const proposed = (message: ProposedMessage): ProposedEvent => ({
  id: message.getId()?.getString() ?? '',
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
});

const fillBatch = (response: BatchAppendResp, verdict: Verdict): void => {
  if (verdict.kind === 'wrong_expected_version')
    return void response.setError(messages.wrongExpectedVersion(verdict.current));
  if (verdict.kind === 'too_large')
    return void response.setError(messages.maximumAppendSizeExceeded(MAX_APPEND_BYTES));

  const success = new streamsPb.BatchAppendResp.Success();
  if (verdict.revision < 0) success.setNoStream(new emptyPb.Empty());
  else success.setCurrentRevision(String(verdict.revision));
  const at = verdict.position === undefined ? undefined : String(verdict.position);
  if (at === undefined) success.setNoPosition(new emptyPb.Empty());
  else success.setPosition(new sharedPb.AllStreamPosition().setCommitPosition(at).setPreparePosition(at));
  response.setSuccess(success);
};

/** `Streams/Append`: one append per call. */
export const singleAppend =
  (appending: Appending) =>
  (call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>): void => {
    let target: Omit<Request, 'events'> = { stream: '', expected: 'any' };
    const events: ProposedEvent[] = [];
    call.on('data', (chunk: AppendReq) => {
      const options = chunk.getOptions();
      const message = chunk.getProposedMessage();
      if (options !== undefined) target = singleTarget(options);
      if (message !== undefined) events.push(proposed(message));
    });
    call.on('error', () => undefined);
    call.on('end', () =>
      commit(
        appending,
        { ...target, events },
        {
          verdict: (verdict) => answerSingle(verdict, answer),
          notReady: () => answer({ code: grpcStatus.UNAVAILABLE, details: 'Server Is Not Ready' }),
          denied: () => {
            const metadata = new Metadata();
            metadata.set('exception', 'access-denied');
            answer({ code: grpcStatus.PERMISSION_DENIED, details: 'Access Denied', metadata });
          },
        },
      ),
    );
  };

const singleTarget = (options: AppendReq.Options): Omit<Request, 'events'> => {
  const stream = messages.streamName(options.getStreamIdentifier());
  if (options.hasAny()) return { stream, expected: 'any' };
  if (options.hasStreamExists()) return { stream, expected: 'stream_exists' };
  if (options.hasNoStream()) return { stream, expected: 'no_stream' };
  return { stream, expected: Number(options.getRevision()) };
};

const answerSingle = (verdict: Verdict, answer: sendUnaryData<AppendResp>): void => {
  if (verdict.kind === 'too_large') {
    const metadata = new Metadata();
    metadata.set('exception', 'maximum-append-size-exceeded');
    metadata.set('maximum-append-size', String(MAX_APPEND_BYTES));
    answer({ code: grpcStatus.INVALID_ARGUMENT, details: 'Maximum Append Size Exceeded', metadata });
    return;
  }
  const response = new streamsPb.AppendResp();
  if (verdict.kind === 'wrong_expected_version') {
    const wrong = new streamsPb.AppendResp.WrongExpectedVersion();
    if (verdict.current < 0) wrong.setCurrentNoStream(new sharedPb.Empty());
    else wrong.setCurrentRevision(String(verdict.current));
    answer(null, response.setWrongExpectedVersion(wrong));
    return;
  }
  const success = new streamsPb.AppendResp.Success().setCurrentRevision(String(verdict.revision));
  const at = verdict.position === undefined ? undefined : String(verdict.position);
  if (at === undefined) success.setNoPosition(new sharedPb.Empty());
  else success.setPosition(new streamsPb.AppendResp.Position().setCommitPosition(at).setPreparePosition(at));
  answer(null, response.setSuccess(success));
};
