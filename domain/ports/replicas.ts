/** A process of the service, as it describes itself. */
export interface ReplicaFacts {
  readonly replica_id: string;
  readonly version: string;
  readonly roles: readonly string[];
}

/** A process that gave a sign of life lately. Times are those of the database, which all share. */
export interface Replica extends ReplicaFacts {
  readonly started_at: string;
  readonly seen_at: string;
}

/** Where the processes of one service see one another. Every method throws when it cannot be told. */
export interface Replicas {
  /** A sign of life; forgets those that have given none for long. */
  beat(facts: ReplicaFacts): Promise<void>;
  /** A process that ends says so. */
  leave(replicaId: string): Promise<void>;
  /** Those that are alive, the oldest first. */
  alive(): Promise<readonly Replica[]>;
}
