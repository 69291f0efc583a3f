/**
 * What the benchmark calls of Emmett. It is not among our dependencies, for it asks for an older release of one:
 * `npm install --prefix <folder> @event-driven-io/emmett@0.42.0 @event-driven-io/emmett-postgresql@0.42.0`.
 */
export interface AccountEvent {
  readonly type: 'CreditsAdjusted' | 'CreditsBurned';
  readonly data: { readonly tenant: string; readonly key: string; readonly credits: number };
}

export interface EmmettStore {
  readonly appendToStream: (
    stream: string,
    events: readonly AccountEvent[],
    options?: { readonly expectedStreamVersion: bigint },
  ) => Promise<{ readonly nextExpectedStreamVersion: bigint }>;
  readonly close: () => Promise<void>;
}

interface Folding<State> {
  readonly evolve: (state: State, event: AccountEvent) => State;
  readonly initialState: () => State;
}

export interface Emmett {
  readonly CommandHandler: <State>(
    folding: Folding<State>,
  ) => (store: EmmettStore, stream: string, decide: (state: State) => AccountEvent[]) => Promise<unknown>;
}

interface Projection {
  readonly name: string;
  readonly canHandle: readonly string[];
  readonly evolve: (event: AccountEvent) => unknown;
}

export interface EmmettPostgres {
  readonly getPostgreSQLEventStore: (
    url: string,
    options: { readonly projections: readonly { readonly type: 'inline'; readonly projection: unknown }[] },
  ) => EmmettStore;
  readonly postgreSQLRawSQLProjection: (projection: Projection) => unknown;
}

export interface EmmettSql {
  readonly SQL: (text: TemplateStringsArray, ...values: readonly unknown[]) => unknown;
}
