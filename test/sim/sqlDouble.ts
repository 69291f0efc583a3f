import {
  type LockHolders,
  type Sql,
  type SqlLock,
  type SqlTx,
  SqlUnavailable,
} from '../../projections/engine/ports.ts';
import type { Owner, Scheduler } from './scheduler.ts';

/** A transaction that waits for its next statement for so long is ended, if others want to go on. */
const IDLE_MS = 20_000;

/** Who has the connection. Transactions take turns. */
interface Turn {
  readonly owner: Owner;
  isOver: boolean;
  /** Takes back what was not committed. */
  rollback: () => Promise<void>;
}

interface HeldLock {
  readonly owner: Owner;
  readonly session: string;
  readonly lose: () => void;
}

/** Told of each transaction that was committed, before another one begins. */
export type OnCommit = (tx: SqlTx) => Promise<void>;

/** A transaction of the real database that stays open until it is told how it ends. */
const opened = (raw: Sql) =>
  new Promise<{ readonly tx: SqlTx; readonly end: (how: 'commit' | 'rollback') => Promise<void> }>(
    (resolve, reject) => {
      const undone = new Error('rolled back');
      const done = raw.transaction(
        (tx) =>
          new Promise<void>((commit, rollback) => {
            const end = (how: 'commit' | 'rollback'): Promise<void> => {
              if (how === 'commit') commit();
              else rollback(undone);
              return done.catch((error: unknown) => {
                if (error !== undone) throw error;
              });
            };
            resolve({ tx, end });
          }),
      );
      done.catch(reject);
    },
  );

const gone = (why: string): SqlUnavailable => new SqlUnavailable(`the database: ${why}`);

/**
 * One embedded Postgres for all processes. Its statements are real, its connections are a double: they fail, their
 * answers are lost, and a process that dies or stands still takes its transaction and its locks with it.
 */
export const databaseFor = (raw: Sql, sched: Scheduler, onCommit: OnCommit) => {
  const locks = new Map<bigint, HeldLock>();
  const waiting = new Set<() => void>();
  let turn: Turn | undefined;
  let sessions = 0;

  const wake = (): void => {
    for (const one of [...waiting]) one();
    waiting.clear();
  };
  const giveBack = (own: Turn): void => {
    own.isOver = true;
    if (turn !== own) return;
    turn = undefined;
    wake();
  };
  const broken = async (own: Turn): Promise<void> => {
    if (own.isOver) return;
    own.isOver = true;
    await sched.real(own.rollback());
    giveBack(own);
  };
  const take = async (owner: Owner): Promise<Turn> => {
    while (turn !== undefined) {
      const other = turn;
      sched.later(undefined, IDLE_MS, () => void broken(other));
      await new Promise<void>((go) => waiting.add(() => void sched.later(owner, 0, go)));
    }
    turn = { owner, isOver: false, rollback: () => Promise.resolve() };
    return turn;
  };

  const release = (key: bigint, own: HeldLock): void => {
    if (locks.get(key) === own) locks.delete(key);
  };
  const lose = (key: bigint, own: HeldLock): void => {
    release(key, own);
    sched.later(own.owner, 0, own.lose);
  };

  /** The database as one process has it. */
  const sqlOf = (owner: Owner): Sql => {
    /** Before a statement it has no effect; after it the answer is lost. */
    const step = (label: string): Promise<void> =>
      sched.call({
        label: `sql.${label}`,
        effect: () => undefined,
        failed: (reason) => {
          throw gone(reason);
        },
        never: ['late', 'lost'],
      });
    const alone = async <T>(label: string, work: () => Promise<T>): Promise<T> => {
      await step(label);
      const own = await take(owner);
      try {
        const answer = await sched.real(work());
        giveBack(own);
        await step('answer');
        return answer;
      } finally {
        giveBack(own);
      }
    };
    const within = (own: Turn, tx: SqlTx): SqlTx => {
      const statement = async <T>(work: () => Promise<T>): Promise<T> => {
        await step('statement');
        if (own.isOver) throw gone('the session was ended');
        return sched.real(work());
      };
      return {
        query: (text, values) => statement(() => tx.query(text, values)),
        script: (text) => statement(() => tx.script(text)),
      };
    };
    const transaction = async <T>(work: (tx: SqlTx) => Promise<T>): Promise<T> => {
      await step('begin');
      const own = await take(owner);
      try {
        const { tx, end } = await sched.real(opened(raw));
        own.rollback = () => end('rollback');
        const mine = within(own, tx);
        const result = await work(mine);
        await step('commit');
        if (own.isOver) throw gone('the session was ended');
        await sched.real(end('commit'));
        own.isOver = true;
        await sched.real(onCommit(mine));
        giveBack(own);
        await step('committed');
        return result;
      } catch (error) {
        await broken(own);
        throw error;
      }
    };
    const tryLock = async (key: bigint): Promise<SqlLock | undefined> => {
      await step('lock');
      if (locks.has(key)) return undefined;
      let lost: () => void = () => undefined;
      const isLost = new Promise<void>((resolve) => (lost = resolve));
      const held = { owner, session: String((sessions += 1)), lose: lost };
      locks.set(key, held);
      return {
        lost: isLost,
        release: () => {
          release(key, held);
          return Promise.resolve();
        },
      };
    };
    const holders: LockHolders = {
      of: async (key) => {
        await step('holder');
        return locks.get(key)?.session;
      },
      end: async (key, holder) => {
        await step('end holder');
        const held = locks.get(key);
        if (held?.session !== holder) return false;
        lose(key, held);
        if (turn?.owner === held.owner) await broken(turn);
        return true;
      },
    };
    return {
      query: (text, values) => alone('query', () => raw.query(text, values)),
      script: (text) => alone('script', () => raw.script(text)),
      transaction,
      tryLock,
      holders,
      close: () => Promise.resolve(),
    };
  };

  return {
    sqlOf,
    /** A process has died: the server notices that its connections are closed. */
    died: (owner: Owner): void => {
      for (const [key, held] of [...locks]) if (held.owner === owner) release(key, held);
      if (turn?.owner === owner) void broken(turn);
    },
    /** The sessions of a process are cut; it lives on. */
    cut: (owner: Owner): void => {
      for (const [key, held] of [...locks]) if (held.owner === owner) lose(key, held);
      if (turn?.owner === owner) void broken(turn);
    },
    /** Whether nobody is in a transaction. */
    isIdle: (): boolean => turn === undefined,
    /** Takes back what is not committed. */
    close: async (): Promise<void> => {
      if (turn !== undefined) await broken(turn);
    },
  };
};
