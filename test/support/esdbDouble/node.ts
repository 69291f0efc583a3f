import { Metadata, status as grpcStatus, type sendUnaryData } from '@grpc/grpc-js';
import gossipPb, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type { DoubleLog } from './doubleLog.ts';

/** The leader as a node names it: by its port on 127.0.0.1. `none`: an election is not over. */
export type Leader = number | 'none';

/** The refusal of a read that wants the leader, on another node. */
export const notLeader = (leader: Leader) => {
  const metadata = new Metadata();
  if (leader === 'none')
    return { code: grpcStatus.UNKNOWN, details: 'No leader info available in response', metadata };
  metadata.set('exception', 'not-leader');
  metadata.set('leader-endpoint-host', '127.0.0.1');
  metadata.set('leader-endpoint-port', String(leader));
  return { code: grpcStatus.NOT_FOUND, details: 'Leader info available', metadata };
};

/** What a node has of the log. */
export interface NodeView extends Pick<DoubleLog, 'all' | 'visible' | 'grown'> {
  /** While held, the node has the first events of the log only: so many, or those that are there. */
  readonly hold: (isHeld: boolean, events?: number) => void;
}

export const nodeView = (log: DoubleLog): NodeView => {
  let length: number | undefined;
  let waiting: (() => void)[] = [];
  const all = () => (length === undefined ? log.all() : log.all().slice(0, length));
  return {
    all,
    visible: (name) => {
      const last = all().at(-1)?.position ?? -1;
      return log.visible(name).filter(({ position }) => position <= last);
    },
    grown: (from) =>
      length === undefined ? log.grown(from) : new Promise((resolve) => waiting.push(resolve)),
    hold: (isHeld, events = log.all().length) => {
      length = isHeld ? events : undefined;
      for (const wake of waiting.splice(0)) wake();
      waiting = [];
    },
  };
};

/** A node as the others hear of it. */
export interface Member {
  readonly port: number;
  readonly isLeader: boolean;
  readonly isAlive: boolean;
}

/** `Gossip/Read`: who is there, and who leads. */
export const gossip =
  (members: () => readonly Member[]) =>
  (_: unknown, answer: sendUnaryData<ClusterInfo>): void => {
    const { LEADER, FOLLOWER } = gossipPb.MemberInfo.VNodeState;
    const told = members().map(({ port, isLeader, isAlive }) => {
      const id = new sharedPb.UUID().setString(`00000000-0000-4000-8000-${String(port).padStart(12, '0')}`);
      const member = new gossipPb.MemberInfo().setInstanceId(id).setIsAlive(isAlive);
      member.setTimeStamp(String(Date.now())).setState(isLeader ? LEADER : FOLLOWER);
      return member.setHttpEndPoint(new gossipPb.EndPoint().setAddress('127.0.0.1').setPort(port));
    });
    answer(null, new gossipPb.ClusterInfo().setMembersList(told));
  };
