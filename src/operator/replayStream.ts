import { account } from '../../domain/account/account.ts';
import { accountEvent } from '../../domain/account/messages.ts';
import { availableIn, type AccountState } from '../../domain/account/state.ts';
import { apiKey, apiKeyEvent } from '../../domain/apiKey.ts';
import { billingConfig, billingConfigEvent } from '../../domain/billingConfig.ts';
import { categoryOfStream } from '../../domain/catalogue.ts';
import { fxRates, fxRatesEvent } from '../../domain/fxRates.ts';
import { eventCodec, type Codec } from '../../domain/kernel/codec.ts';
import type { AnyKind, Decider } from '../../domain/kernel/decider.ts';
import { payment, paymentCodec } from '../../domain/payment.ts';
import type { EventStore, RecordedEvent } from '../../domain/ports/log.ts';
import { priceList, priceListEvent } from '../../domain/priceList.ts';
import { savedConfig, savedConfigEvent } from '../../domain/savedConfig.ts';

/** An event, and the stream's state right after it. */
interface ReplayStep {
  readonly revision: string;
  readonly position: string;
  readonly recorded_at: string;
  readonly type: string;
  readonly event_id: string;
  readonly state: unknown;
}

/** Takes one event and gives the state after it. */
type Fold = (event: RecordedEvent) => unknown;

const foldOf =
  <Kind extends AnyKind>(
    { initialState, evolve }: Decider<Kind>,
    codec: Codec<Kind['event']>,
    shown: (state: Kind['state']) => unknown = (state) => state,
  ) =>
  (): Fold => {
    let state = initialState;
    return (event) => {
      state = evolve(state, codec.decode(event));
      return shown(state);
    };
  };

/** An account's figures in credits, and its open holds. */
const accountFigures = (state: AccountState) => ({
  balance: state.balance,
  held: state.held,
  available: availableIn(state),
  purchased: state.purchased,
  adjusted: state.adjusted,
  used: state.used,
  plan: state.plan,
  free_pages_used: state.free_pages_used,
  free_pages_held: state.free_pages_held,
  open_holds: [...state.holds.values()].map(({ hold_id, credits }) => ({ hold_id, credits })),
});

const FOLDS: Readonly<Record<string, () => Fold>> = {
  account: foldOf(account, eventCodec(accountEvent), accountFigures),
  payment: foldOf(payment, paymentCodec),
  priceList: foldOf(priceList, eventCodec(priceListEvent)),
  billingConfig: foldOf(billingConfig, eventCodec(billingConfigEvent)),
  fxRates: foldOf(fxRates, eventCodec(fxRatesEvent), ({ days }) => ({
    days: days.length,
    first: days[0]?.date ?? null,
    last: days.at(-1)?.date ?? null,
  })),
  apiKey: foldOf(apiKey, eventCodec(apiKeyEvent)),
  config: foldOf(savedConfig, eventCodec(savedConfigEvent)),
};

/** For streams without decisions: the members as the events leave them. */
const latestMembers = (): Fold => {
  let state = {};
  return ({ data }) => {
    state = { ...state, ...data };
    return state;
  };
};

/** A stream's events from the first on, each with the state after it. Throws UndecodableEvent. */
export async function* replayedStream(
  store: EventStore,
  stream: string,
): AsyncGenerator<ReplayStep, void, void> {
  const fold = (FOLDS[categoryOfStream(stream)] ?? latestMembers)();
  for await (const event of store.read(stream)) {
    const recorded = event.metadata['recorded_at'];
    yield {
      revision: event.revision.toString(),
      position: event.position.toString(),
      recorded_at: typeof recorded === 'string' ? recorded : '',
      type: event.type,
      event_id: event.id,
      state: fold(event),
    };
  }
}

const STATE_CHARS = 160;

const brief = (state: unknown): string => {
  const members = Object.entries(state as Readonly<Record<string, unknown>>)
    .filter(([, value]) => !Array.isArray(value) || value.length > 0)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const text = members.join(' ');
  return text.length > STATE_CHARS ? `${text.slice(0, STATE_CHARS - 1)}…` : text;
};

export const REPLAY_HEADER = ['REVISION', 'RECORDED AT', 'TYPE', 'STATE AFTER IT'];

/** A step as a row of the table. */
export const replayRow = ({ revision, recorded_at, type, state }: ReplayStep): readonly string[] => [
  revision,
  recorded_at,
  type,
  brief(state),
];
