import './styles.css';
import { setNonce } from 'get-nonce';
import 'sonner/dist/styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { styleNonce } from './ui/style.ts';
import { cache, router } from './app/router.tsx';
import { applyTheme } from './app/theme.ts';

/** Lets the scroll lock of dialogs and menus add its style tag under the page's policy. */
const giveStyleNonce = (): void => {
  const nonce = styleNonce();
  if (nonce !== undefined) setNonce(nonce);
};

giveStyleNonce();
applyTheme();
const place = document.getElementById('root');
if (place === null) throw new Error('the page has no #root');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={cache}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
