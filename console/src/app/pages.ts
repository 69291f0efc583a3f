import {
  Activity,
  BookOpenCheck,
  BookText,
  ChartNoAxesColumn,
  CircleCheck,
  Coins,
  FileCog,
  FileText,
  Files,
  Gauge,
  Inbox,
  KeyRound,
  Landmark,
  PanelLeft,
  ReceiptText,
  Send,
  Table,
  Users,
  Workflow,
  type Icon,
} from '../ui/icons/icons.tsx';
import type { ComponentType } from 'react';
import { shell } from '../texts/shell.ts';

/** One page of the console. */
export interface Page {
  readonly path: string;
  readonly name: string;
  readonly icon: Icon;
  readonly isOperators: boolean;
  readonly load: () => Promise<{ default: ComponentType }>;
}

const { nav } = shell;

/** All pages in the order in which they are shown; each is loaded when it is first opened. */
export const PAGES: readonly Page[] = [
  {
    path: '/overview',
    name: nav.overview,
    icon: PanelLeft,
    isOperators: false,
    load: () => import('../pages/overview/index.tsx'),
  },
  {
    path: '/playground',
    name: nav.playground,
    icon: FileText,
    isOperators: false,
    load: () => import('../pages/playground/index.tsx'),
  },
  {
    path: '/runs',
    name: nav.runs,
    icon: Files,
    isOperators: false,
    load: () => import('../pages/runs/index.tsx'),
  },
  {
    path: '/reviews',
    name: nav.reviews,
    icon: CircleCheck,
    isOperators: false,
    load: () => import('../pages/reviews/index.tsx'),
  },
  {
    path: '/work',
    name: nav.work,
    icon: Inbox,
    isOperators: false,
    load: () => import('../pages/work/index.tsx'),
  },
  {
    path: '/usage',
    name: nav.usage,
    icon: Coins,
    isOperators: false,
    load: () => import('../pages/usage/index.tsx'),
  },
  {
    path: '/budgets',
    name: nav.budgets,
    icon: Gauge,
    isOperators: false,
    load: () => import('../pages/budgets.tsx'),
  },
  {
    path: '/statements',
    name: nav.statements,
    icon: ReceiptText,
    isOperators: false,
    load: () => import('../pages/statements/index.tsx'),
  },
  {
    path: '/keys',
    name: nav.keys,
    icon: KeyRound,
    isOperators: false,
    load: () => import('../pages/keys.tsx'),
  },
  {
    path: '/webhooks',
    name: nav.webhooks,
    icon: Send,
    isOperators: false,
    load: () => import('../pages/webhooks/index.tsx'),
  },
  {
    path: '/configs',
    name: nav.configs,
    icon: FileCog,
    isOperators: false,
    load: () => import('../pages/configs.tsx'),
  },
  {
    path: '/tables',
    name: nav.tables,
    icon: Table,
    isOperators: false,
    load: () => import('../pages/tables.tsx'),
  },
  {
    path: '/pipelines',
    name: nav.pipelines,
    icon: Workflow,
    isOperators: false,
    load: () => import('../pages/pipelines/index.tsx'),
  },
  {
    path: '/evaluations',
    name: nav.evaluations,
    icon: ChartNoAxesColumn,
    isOperators: false,
    load: () => import('../pages/evaluations/index.tsx'),
  },
  {
    path: '/tenants',
    name: nav.tenants,
    icon: Users,
    isOperators: true,
    load: () => import('../pages/tenants/index.tsx'),
  },
  {
    path: '/books',
    name: nav.books,
    icon: BookText,
    isOperators: true,
    load: () => import('../pages/books/index.tsx'),
  },
  {
    path: '/finance',
    name: nav.finance,
    icon: Landmark,
    isOperators: true,
    load: () => import('../pages/finance/index.tsx'),
  },
  {
    path: '/audit',
    name: nav.audit,
    icon: BookOpenCheck,
    isOperators: true,
    load: () => import('../pages/audit/index.tsx'),
  },
  {
    path: '/operation',
    name: nav.operation,
    icon: Activity,
    isOperators: true,
    load: () => import('../pages/operation.tsx'),
  },
];
