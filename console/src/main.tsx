import './styles.css';
import 'sonner/dist/styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { cache } from './app/cache.ts';
import { router } from './app/router.tsx';
import { giveStyleNonce } from './app/styleNonce.ts';
import { applyTheme } from './app/theme.ts';

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
