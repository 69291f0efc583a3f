import { Server, ServerCredentials, status as grpcStatus } from '@grpc/grpc-js';
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import featuresPb from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { batchAppend, singleAppend } from './appends.ts';
import { doubleLog } from './doubleLog.ts';
import type { DoubleLog, DoubleLogOptions } from './doubleLog.ts';
import { faults } from './faults.ts';
import type { Faults } from './faults.ts';
import { frontDoor } from './frontDoor.ts';
import type { FrontDoor } from './frontDoor.ts';
import { marksOfNew, marksOfOld } from './messages.ts';
import { read } from './reads.ts';

export interface EsdbDoubleOptions extends DoubleLogOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** What `die_after_commit` does; by default every connection is cut. */
  readonly onDie?: () => void;
  /** Whose marks of subscriptions it sends: those of 23.10 and 24.10, or of KurrentDB 26.0, the default. */
  readonly release?: Release;
}

const RELEASES = {
  '23.10': { version: '23.10.8', marks: marksOfOld },
  '26.0': { version: '26.0.3', marks: marksOfNew },
} as const;

export type Release = keyof typeof RELEASES;

/** A server that speaks EventStoreDB's protocol as far as appends, reads and `$all` subscriptions go. */
export interface EsdbDouble extends Pick<FrontDoor, 'port' | 'closeConnections' | 'freeze'> {
  readonly connectionString: string;
  readonly log: DoubleLog;
  readonly faults: Faults;
  /** Ends every subscription without an error. */
  readonly endSubscriptions: () => void;
  /** Comes back with its first events only: a copy that was made when there were so many, or an empty one. */
  readonly goBack: (to: number) => void;
  readonly close: () => Promise<void>;
}

export const startEsdbDouble = async (options: EsdbDoubleOptions = {}): Promise<EsdbDouble> => {
  const { version, marks } = RELEASES[options.release ?? '26.0'];
  const log = doubleLog(options);
  log.append('$settings', 'no_stream', [SYSTEM_EVENT]);
  const switches = faults();
  const subscriptions = new Set<ServerWritableStream<ReadReq, ReadResp>>();
  const server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 });
  let cut: () => void = () => undefined;
  const appending = { log, faults: switches, die: () => (options.onDie ?? cut)() };
  const streams = {
    read: read({ log, faults: switches, marks, subscriptions }),
    append: singleAppend(appending),
    batchAppend: batchAppend(appending),
    delete: unimplemented,
    tombstone: unimplemented,
  };
  server.addService(streamsGrpc.StreamsService, streams);
  server.addService(featuresGrpc.ServerFeaturesService, { getSupportedMethods: features(switches, version) });
  const inner = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  );
  const door = await frontDoor(options.port ?? 0, { host: '127.0.0.1', port: inner });
  cut = door.closeConnections;
  return {
    connectionString: `esdb://127.0.0.1:${String(door.port)}?tls=false`,
    port: door.port,
    log,
    faults: switches,
    endSubscriptions: () => {
      for (const call of subscriptions) call.end();
    },
    closeConnections: door.closeConnections,
    freeze: door.freeze,
    goBack: (to) => {
      log.goBack(to);
      door.closeConnections();
    },
    close: async () => {
      await door.close();
      server.forceShutdown();
      log.close();
    },
  };
};

const SYSTEM_EVENT = {
  id: '00000000-0000-4000-8000-000000000000',
  type: '$settings',
  contentType: 'application/json',
  data: Buffer.from('{}'),
  metadata: Buffer.from(''),
};

const unimplemented = (_: unknown, answer: sendUnaryData<never>): void =>
  answer({ code: grpcStatus.UNIMPLEMENTED, details: 'not in the double' });

const features =
  (switches: Faults, version: string) =>
  (_: ServerUnaryCall<unknown, SupportedMethods>, answer: sendUnaryData<SupportedMethods>): void => {
    if (switches.refuseFeatures) {
      answer({ code: grpcStatus.UNIMPLEMENTED, details: 'refused' });
      return;
    }
    const methods = new featuresPb.SupportedMethods().setEventStoreServerVersion(version);
    for (const name of ['append', 'batchappend', 'read']) {
      const method = new featuresPb.SupportedMethod().setMethodName(name);
      methods.addMethods(method.setServiceName('event_store.client.streams.streams'));
    }
    answer(null, methods);
  };
