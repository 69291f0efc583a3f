import { Check, Copy as CopyIcon } from '../icons/icons.tsx';
import { useState } from 'react';
import { shell } from '../../texts/shell.ts';
import { Button } from '../button.tsx';

/** Puts a text on the clipboard. */
export function Copy({ text, name = shell.copy }: { text: string; name?: string }) {
  const [isDone, mark] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    mark(true);
    setTimeout(() => mark(false), 1_500);
  };
  return (
    <Button
      look="quiet"
      size="small"
      className="h-5 px-1"
      aria-label={isDone ? shell.copied : name}
      onClick={() => void copy()}
    >
      {isDone ? <Check aria-hidden className="size-3.5" /> : <CopyIcon aria-hidden className="size-3.5" />}
    </Button>
  );
}
