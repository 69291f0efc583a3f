import { grouped, type Output } from './output.ts';

/** How far a rebuild is. Positions may arrive as text. */
interface Progress {
  readonly eventsDone: number;
  readonly eventsPerSecond: number;
  readonly secondsLeft: number | null;
  /** 0 to 1. */
  readonly share: number;
}

const BAR = 24;
const LINE_EVERY_MS = 5_000;

/** `1 h 05 min`, `3 min 20 s`, `12 s`. */
export const durationText = (seconds: number): string => {
  const whole = Math.max(0, Math.ceil(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  if (hours > 0) return `${String(hours)} h ${String(minutes).padStart(2, '0')} min`;
  return minutes > 0 ? `${String(minutes)} min ${String(rest).padStart(2, '0')} s` : `${String(rest)} s`;
};

/** One line: share, events, pace, time left. */
export const progressText = ({ eventsDone, eventsPerSecond, secondsLeft, share }: Progress): string => {
  const left = secondsLeft === null ? '' : `, ${durationText(secondsLeft)} left`;
  return (
    `${String(Math.floor(share * 100))} %, ${grouped(Math.round(eventsDone))} ` +
    `events, ${grouped(Math.round(eventsPerSecond))}/s${left}`
  );
};

/** `share` from 0 to 1. */
export const bar = (share: number): string => {
  const full = Math.round(share * BAR);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}]`;
};

/** Shows progress: a bar in place on a terminal, a line every few seconds elsewhere. */
export const progressShown = (
  { note, isTerminal }: Pick<Output, 'note' | 'isTerminal'>,
  nowMs: () => number = () => performance.now(),
) => {
  let lastLine = -Infinity;
  return {
    show: (progress: Progress): void => {
      if (isTerminal) note(`\r${bar(progress.share)} ${progressText(progress)}\u001b[K`);
      if (isTerminal || nowMs() - lastLine < LINE_EVERY_MS) return;
      lastLine = nowMs();
      note(`${progressText(progress)}\n`);
    },
    end: (): void => {
      if (isTerminal) note('\r\u001b[K');
    },
  };
};
