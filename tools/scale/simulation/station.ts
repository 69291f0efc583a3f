import type { Agenda } from './agenda.ts';

/** What a station saw since it was last reset. Times are milliseconds of the simulation's clock. */
export interface StationReport {
  readonly arrived: number;
  readonly served: number;
  /** In the queue or in service now. */
  readonly present: number;
  /** Share of its servers' time that was busy, 0 to 1. */
  readonly utilisation: number;
  /** Visitors present, averaged over time. */
  readonly meanPresent: number;
  /** From arrival to end of service, averaged over those served. */
  readonly meanStayMs: number;
}

/** Servers that take visitors in the order of arrival. */
export interface Station {
  /**
   * Waits for a server, is served for so many ms, then goes on. A function is asked when service begins:
   * what gathers while it waits is part of the same work.
   */
  readonly visit: (serviceMs: number | (() => number), done: () => void) => void;
  readonly report: () => StationReport;
  /** Forgets what was seen, for the time of warming up does not count. */
  readonly reset: () => void;
}

interface Visitor {
  readonly serviceMs: number | (() => number);
  readonly arrivedAt: number;
  readonly done: () => void;
}

interface Seen {
  since: number;
  changedAt: number;
  busyMs: number;
  presentMs: number;
  arrived: number;
  served: number;
  stayMs: number;
}

const nothingSeen = (now: number): Seen => ({
  ...{ since: now, changedAt: now, busyMs: 0, presentMs: 0 },
  ...{ arrived: 0, served: 0, stayMs: 0 },
});

/** A station of `servers` servers on that agenda. */
export const newStation = (agenda: Agenda, servers: number): Station => {
  let queue: Visitor[] = [];
  let head = 0;
  let busy = 0;
  let seen = nothingSeen(0);

  const waiting = () => queue.length - head;
  /** Before each change: the time since the last one counts with what was there meanwhile. */
  const account = () => {
    const elapsed = agenda.now() - seen.changedAt;
    seen.busyMs += elapsed * busy;
    seen.presentMs += elapsed * (busy + waiting());
    seen.changedAt = agenda.now();
  };
  const next = (): Visitor => {
    const visitor = queue[head]!;
    head += 1;
    if (head > 1024 && head * 2 > queue.length) {
      queue = queue.slice(head);
      head = 0;
    }
    return visitor;
  };
  const leave = ({ arrivedAt, done }: Visitor) => {
    account();
    busy -= 1;
    seen.served += 1;
    seen.stayMs += agenda.now() - arrivedAt;
    serve();
    done();
  };
  const serve = () => {
    while (busy < servers && waiting() > 0) {
      account();
      const visitor = next();
      busy += 1;
      const { serviceMs } = visitor;
      agenda.after(typeof serviceMs === 'number' ? serviceMs : serviceMs(), () => leave(visitor));
    }
  };

  return {
    visit: (serviceMs, done) => {
      account();
      seen.arrived += 1;
      queue.push({ serviceMs, arrivedAt: agenda.now(), done });
      serve();
    },
    report: () => {
      account();
      const elapsed = agenda.now() - seen.since;
      return {
        arrived: seen.arrived,
        served: seen.served,
        present: busy + waiting(),
        utilisation: elapsed === 0 ? 0 : seen.busyMs / (elapsed * servers),
        meanPresent: elapsed === 0 ? 0 : seen.presentMs / elapsed,
        meanStayMs: seen.served === 0 ? 0 : seen.stayMs / seen.served,
      };
    },
    reset: () => {
      account();
      seen = nothingSeen(agenda.now());
    },
  };
};
