import type { Route } from '../../defineRoute.ts';
import { getDocs } from './getDocs.route.ts';
import { getDocsAsset } from './getDocsAsset.route.ts';
import { getHealth } from './getHealth.route.ts';
import { getLiveness } from './getLiveness.route.ts';
import { getMetrics } from './getMetrics.route.ts';
import { getProblemPage } from './getProblemPage.route.ts';
import { getReadiness } from './getReadiness.route.ts';

type Routes = Readonly<Record<string, Route>>;

/** Health and metrics: what every process answers, whatever its roles. */
export const PROBES: Routes = { getHealth, getLiveness, getReadiness, getMetrics };

/** What the service says of itself. */
export const SERVICE: Routes = { ...PROBES, getDocs, getDocsAsset, getProblemPage };
