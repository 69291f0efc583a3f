import { lazy, Suspense, useEffect } from 'react';

interface PaletteProps {
  readonly isAdmin: boolean;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

const Commands = lazy(() => import('./commands.tsx'));

/** ⌘K or Ctrl+K: to any page by typing. Its list is loaded when it is first opened. */
export function Palette({ isAdmin, isOpen, onOpenChange }: PaletteProps) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      onOpenChange(true);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [onOpenChange]);
  if (!isOpen) return null;
  return (
    <Suspense>
      <Commands isAdmin={isAdmin} close={() => onOpenChange(false)} />
    </Suspense>
  );
}
