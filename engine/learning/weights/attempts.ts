import type { Json } from '../../kernel/json.ts';
import type { Counts } from '../../ports/documentTools.ts';
import { NEVER, type Gate, type Side } from './sides.ts';
import { isRefused, type Following, type Opinion } from './leafModel.ts';
import { trustIn, type Trial, type Trust } from './trust.ts';

/** Rules and model side by side for one target of one document that the model did not learn from. */
export interface Attempt {
  readonly pointer: string;
  readonly side: keyof Gate;
  readonly rules: Counts;
  readonly model: Counts;
  /** A value that the model chose against the rules. */
  readonly trial: Trial | undefined;
  readonly isRefusal: boolean;
  /** The rules are wrong where the right value is one of those to choose from. */
  readonly isMendable: boolean;
  /** The example does not say whether the document has the value that the rules find. */
  readonly isOpen: boolean;
  readonly isOfLeaf: boolean;
}

interface Seen extends Pick<Attempt, 'pointer' | 'side' | 'rules' | 'model' | 'isOfLeaf'> {
  /** The right value is one of those to choose from. */
  readonly isThere: boolean;
  readonly expected: Json | undefined;
  /** Of a leaf of which something was learned. */
  readonly opinion: Opinion | undefined;
}

/** What an attempt shows. */
export function tallied({ expected, opinion, isThere, ...seen }: Seen): Attempt {
  const isOpen = expected === undefined && seen.rules.fp > 0;
  const isRefusal = opinion !== undefined && isRefused(opinion);
  const isTried = opinion !== undefined && !isRefusal && !isOpen && !opinion.best.byRules;
  return {
    ...seen,
    trial: isTried ? { signals: opinion.signals, isRight: seen.model.tp > 0 } : undefined,
    isRefusal,
    isMendable: isThere && seen.rules.fn > 0,
    isOpen,
  };
}

/** What rules and model say in an attempt when the model is followed so far. */
export function tallyOf(
  { rules, model, trial, isRefusal, isOfLeaf }: Attempt,
  { from, mayRefuse, trust }: Following,
): { readonly rules: Counts; readonly model: Counts } {
  if (!isOfLeaf) return { rules, model: from < NEVER ? model : rules };
  const isFollowed = isRefusal ? mayRefuse : trial !== undefined && trustIn(trust, trial.signals) >= from;
  return { rules, model: isFollowed ? model : rules };
}

/** A wrong value costs half of what a right one is worth; none costs nothing. */
const worth = ({ tp, fp }: Counts): number => tp - fp / 2;

interface Balance {
  readonly gained: number;
  readonly lost: number;
  /** Documents that became better. */
  readonly won: number;
}

function balanceOf(attempts: readonly Attempt[], following: Following): Balance {
  const changes = attempts
    .filter(({ isOpen }) => !isOpen)
    .map((one) => {
      const { rules, model } = tallyOf(one, following);
      return worth(model) - worth(rules);
    });
  return {
    gained: changes.reduce((sum, change) => sum + Math.max(0, change), 0),
    lost: changes.reduce((sum, change) => sum + Math.max(0, -change), 0),
    won: changes.filter((change) => change > 0).length,
  };
}

/** Chances from which on a model may be followed. */
const LEVELS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
/** What is lost weighs so much more than what is gained: the rules are the safe choice. */
const LOSS_WEIGHT = 2;
/** On layouts that no example had, so many documents must be won, and so little lost of what is gained. */
const UNSEEN_WON_MIN = 2;
const UNSEEN_LOST_SHARE = 0.2;
/** Nothing is taken away before so many documents were right to do without. */
const REFUSALS_MIN = 2;

/** From this chance on a leaf is followed whose value the rules missed in an example, as long as it lost nothing. */
const MENDS_FROM = 0.6;

/** Attempts by the layouts that they were made on. */
export type Sides = Readonly<Record<keyof Gate, readonly Attempt[]>>;

/**
 * How far a target may be followed, by its attempts on documents that were left out. A leaf that shows too little
 * there goes by what all leaves show together, unless it lost anything itself. Where that is too little too, it is
 * followed if the rules missed its value in an example: of few examples each has mistakes of its own, so none that
 * was left out can win by what the others taught. Where each layout has one example, none could be tried as known:
 * what holds on layouts never seen then holds on those too.
 */
export function followedFrom(sides: Sides, all: Sides, trust: Trust): Gate {
  const mends = [...sides.known, ...sides.unseen].some(({ isMendable }) => isMendable);
  const side = (of: keyof Gate, isGood: IsGood): Side =>
    sideOf({ attempts: sides[of], all: all[of].filter(({ isOfLeaf }) => isOfLeaf), trust, isGood, mends });
  const unseen = { ...side('unseen', isGoodUnseen), mayRefuse: false };
  const isTested = sides.known.some(
    ({ trial, isRefusal, isOfLeaf }) => trial !== undefined || isRefusal || !isOfLeaf,
  );
  return { known: isTested ? side('known', isGoodKnown) : unseen, unseen };
}

type IsGood = (balance: Balance) => boolean;

const isGoodKnown = ({ gained, lost }: Balance): boolean => gained > LOSS_WEIGHT * lost;

const isGoodUnseen = ({ gained, lost, won }: Balance): boolean =>
  won >= UNSEEN_WON_MIN && lost <= UNSEEN_LOST_SHARE * gained;

interface Judged {
  readonly attempts: readonly Attempt[];
  /** Those of all leaves. */
  readonly all: readonly Attempt[];
  readonly trust: Trust;
  readonly isGood: IsGood;
  /** The rules missed its value in an example. */
  readonly mends: boolean;
}

function sideOf({ attempts, all, trust, isGood, mends }: Judged): Side {
  const refusals = balanceOf(attempts, { from: NEVER, mayRefuse: true, trust });
  const isOfLeaf = attempts.some((one) => one.isOfLeaf);
  const mayRefuse = isOfLeaf && refusals.won >= REFUSALS_MIN && refusals.lost === 0;
  const own = levelFor(attempts, trust, isGood);
  if (own !== undefined || !isOfLeaf) return { from: own ?? NEVER, mayRefuse };
  const shared = levelFor(all, trust, isGood) ?? (mends ? MENDS_FROM : NEVER);
  const { lost } = balanceOf(attempts, { from: shared, mayRefuse: false, trust });
  return { from: lost > 0 ? NEVER : shared, mayRefuse };
}

/** The chance from which on following is worth most; undefined where it is not good at any. */
function levelFor(attempts: readonly Attempt[], trust: Trust, isGood: IsGood): number | undefined {
  const balances = LEVELS.map((from) => ({
    from,
    balance: balanceOf(attempts, { from, mayRefuse: false, trust }),
  })).filter(({ balance }) => isGood(balance));
  return balances.reduce<(typeof balances)[number] | undefined>(
    (most, one) => (most === undefined || netOf(one.balance) > netOf(most.balance) ? one : most),
    undefined,
  )?.from;
}

const netOf = ({ gained, lost }: Balance): number => gained - LOSS_WEIGHT * lost;
