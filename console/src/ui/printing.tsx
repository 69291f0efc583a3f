import { useSyncExternalStore } from 'react';
import { shell } from '../texts/shell.ts';
import { Button } from './button.tsx';

const media = matchMedia('print');

const subscribe = (listener: () => void): (() => void) => {
  media.addEventListener('change', listener);
  return () => media.removeEventListener('change', listener);
};

/** Whether the page is laid out for paper: then lists draw all their rows, for nobody scrolls. */
export const useIsPrinting = (): boolean => useSyncExternalStore(subscribe, () => media.matches);

/** Prints the page as its print view shows it: without navigation, filters and buttons. */
export function PrintButton() {
  return <Button onClick={() => window.print()}>{shell.print}</Button>;
}
