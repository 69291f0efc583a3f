import { classes } from './classes.ts';

interface ProgressBarProps {
  readonly label: string;
  /** Left out: nothing is known of how far it is. */
  readonly value?: number;
  readonly max?: number;
}

/** How much of a whole is done or in use. */
export function ProgressBar({ label, value, max = 1 }: ProgressBarProps) {
  return (
    <progress
      aria-label={label}
      {...(value === undefined ? {} : { value })}
      max={Math.max(1, max)}
      className={classes(
        'h-2 w-full min-w-24 flex-1 appearance-none overflow-hidden rounded-full bg-line',
        value === undefined
          ? 'animate-pulse [&::-webkit-progress-bar]:bg-accent/40'
          : '[&::-webkit-progress-bar]:bg-line',
        '[&::-moz-progress-bar]:bg-accent [&::-webkit-progress-value]:bg-accent',
      )}
    />
  );
}
