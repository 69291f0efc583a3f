import { Outlet } from '@tanstack/react-router';
import { Tooltip } from 'radix-ui';
import { Toaster } from 'sonner';
import { useShownTheme } from './theme.ts';

/** Around every page, signed in or not. */
export function Root() {
  return (
    <Tooltip.Provider delayDuration={300}>
      <Outlet />
      <Toaster theme={useShownTheme()} position="bottom-right" closeButton />
    </Tooltip.Provider>
  );
}
