import { Server, ServerCredentials, status as grpcStatus } from '@grpc/grpc-js';
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
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
import { gossip, type Leader, type Member, type NodeView, nodeView } from './node.ts';
import { read } from './reads.ts';

export interface EsdbDoubleOptions extends DoubleLogOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** What `die_after_commit` does; by default every connection is cut. */
  readonly onDie?: () => void;
  /** Whose marks of subscriptions it sends: those of 23.10 and 24.10, or of KurrentDB 26.0, the default. */
  readonly release?: Release;
  /** PEM of its certificate and its key; left out: it speaks without TLS. */
  readonly tls?: Tls | undefined;
}

interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
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

const newLog = (options: DoubleLogOptions): DoubleLog => {
  const log = doubleLog(options);
  log.append('$settings', 'no_stream', [SYSTEM_EVENT]);
  return log;
};

export const startEsdbDouble = async (options: EsdbDoubleOptions = {}): Promise<EsdbDouble> => {
  const log = newLog(options);
  const alone = { log, leader: () => undefined, members: () => [] };
  const { close, ...node } = await startNode(options, alone);
  return {
    ...node,
    log,
    connectionString: `esdb://127.0.0.1:${String(node.port)}?tls=false`,
    goBack: (to) => {
      log.goBack(to);
      node.closeConnections();
    },
    close: async () => {
      await close();
      log.close();
    },
  };
};

/** A node of a cluster. */
export interface EsdbNode extends Pick<EsdbDouble, 'port' | 'closeConnections' | 'freeze' | 'faults'> {
  readonly hold: NodeView['hold'];
  /** How often it was asked to read, and how often it has refused because another node leads. */
  readonly reads: () => number;
  readonly refusals: () => number;
  /** As a killed server: what is open is cut, and nothing listens any more. */
  readonly kill: () => Promise<void>;
}

/** Nodes of one log. A follower sends appends on to the leader, as the server does by default. */
export interface EsdbCluster {
  readonly nodes: readonly EsdbNode[];
  /** Names all nodes. */
  readonly connectionString: string;
  readonly log: DoubleLog;
  /** Makes a node the leader; undefined: there is none. */
  readonly elect: (node: number | undefined) => void;
  /** How often nodes have refused a read because they do not lead. */
  readonly refusals: () => number;
  readonly close: () => Promise<void>;
}

/** So many nodes, of which the last is the leader. */
export const startEsdbCluster = async (count = 3, tls?: Tls): Promise<EsdbCluster> => {
  const log = newLog({});
  let led: number | undefined = count - 1;
  const nodes: EsdbNode[] = [];
  const dead = new Set<EsdbNode>();
  const members = (): readonly Member[] =>
    nodes.map((node, at) => ({ port: node.port, isLeader: at === led, isAlive: !dead.has(node) }));
  for (let at = 0; at < count; at += 1) {
    const leader = (): Leader | undefined =>
      led === at ? undefined : led === undefined ? 'none' : (nodes[led]?.port ?? 'none');
    const { close, ...node } = await startNode({ tls }, { log, leader, members });
    const kill = async () => {
      if (dead.has(made)) return;
      dead.add(made);
      await close();
    };
    const made: EsdbNode = { ...node, kill };
    nodes.push(made);
  }
  return {
    nodes,
    log,
    connectionString: `esdb://${nodes.map(({ port }) => `127.0.0.1:${String(port)}`).join(',')}?tls=false`,
    elect: (node) => void (led = node),
    refusals: () => nodes.reduce((sum, node) => sum + node.refusals(), 0),
    close: async () => {
      await Promise.all(nodes.map(({ kill }) => kill()));
      log.close();
    },
  };
};

interface Cluster {
  readonly log: DoubleLog;
  readonly leader: () => Leader | undefined;
  readonly members: () => readonly Member[];
}

const startNode = async (options: EsdbDoubleOptions, { log, leader, members }: Cluster) => {
  const { version, marks } = RELEASES[options.release ?? '26.0'];
  const view = nodeView(log);
  const switches = faults();
  const counts = { reads: 0, refusals: 0 };
  const asked = (isRefused: boolean) => {
    counts.reads += 1;
    if (isRefused) counts.refusals += 1;
  };
  const subscriptions = new Set<ServerWritableStream<ReadReq, ReadResp>>();
  const server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 });
  let cut: () => void = () => undefined;
  const appending = { log, faults: switches, die: () => (options.onDie ?? cut)() };
  const streams = {
    read: read({ log: view, leader, asked, faults: switches, marks, subscriptions }),
    append: singleAppend(appending),
    batchAppend: batchAppend(appending),
    delete: unimplemented,
    tombstone: unimplemented,
  };
  server.addService(streamsGrpc.StreamsService, streams);
  server.addService(gossipGrpc.GossipService, { read: gossip(members) });
  server.addService(featuresGrpc.ServerFeaturesService, { getSupportedMethods: features(switches, version) });
  const inner = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentialsOf(options), (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  );
  const door = await frontDoor(options.port ?? 0, { host: '127.0.0.1', port: inner });
  cut = door.closeConnections;
  return {
    port: door.port,
    faults: switches,
    hold: view.hold,
    reads: () => counts.reads,
    refusals: () => counts.refusals,
    endSubscriptions: () => {
      for (const call of subscriptions) call.end();
    },
    closeConnections: door.closeConnections,
    freeze: door.freeze,
    close: async () => {
      await door.close();
      server.forceShutdown();
    },
  };
};

const credentialsOf = ({ tls }: EsdbDoubleOptions): ServerCredentials =>
  tls === undefined
    ? ServerCredentials.createInsecure()
    : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);

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
