import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { prepareDataDir } from '../support/preparedData.ts';
import { startQuire, type Quire } from '../../src/service/quire.ts';
import { configFrom } from '../../src/config.ts';

/** From the compiled spec to the checkout. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const textOf = (path: string) => readFile(join(ROOT, path), 'utf8');

const NAME = /\b(?:quire|process|nodejs)_[a-z0-9_]+\b/g;

/** Names of series that a page of metrics may have, by what it says of their types. */
const seriesOf = (page: string): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const [, name = '', type] of page.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    names.add(name);
    if (type === 'histogram') for (const end of ['bucket', 'sum', 'count']) names.add(`${name}_${end}`);
  }
  return names;
};

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}

describe('what operators are given', () => {
  let folder: string;
  let quire: Quire;
  let page: string;
  let series: ReadonlySet<string>;
  let alerts: string;
  let dashboard: { readonly panels: readonly Panel[] };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-observed-'));
    await prepareDataDir(folder);
    quire = await startQuire(configFrom({ DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent' }));
    page = await (await fetch(`${quire.url}/metrics`)).text();
    series = seriesOf(page);
    alerts = await textOf('docs/observability/alerts.yml');
    dashboard = JSON.parse(await textOf('docs/observability/quire.dashboard.json')) as typeof dashboard;
  });
  after(async () => {
    await quire.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const rules = () =>
    [...alerts.matchAll(/- alert: (\w+)\n\s+expr: (?:>-\n)?([\s\S]*?)\n\s+(?:for|labels):/g)].map(
      ([, name = '', expr = '']) => ({ name, expr }),
    );
  const queries = () => dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  it('asks for metrics that a real page has, in rules and panels', () => {
    const used = [...rules().map(({ expr }) => expr), ...queries()].flatMap((expr) => expr.match(NAME) ?? []);
    expect(used.length).to.be.greaterThan(80);
    expect(used.filter((name) => !series.has(name))).to.deep.equal([]);
  });

  it('says in the reference what every metric means, and of none that is not there', async () => {
    const own = [...page.matchAll(/^# TYPE (quire_\S+) /gm)].map(([, name = '']) => name).sort();
    const documented = [...(await textOf('docs/reference/metrics.md')).matchAll(/^\| `(quire_\w+)`/gm)];
    expect(documented.map(([, name = '']) => name).sort()).to.deep.equal(own);
    expect(own.length).to.be.greaterThan(35);
  });

  it('shows every metric of the service on the dashboard', () => {
    const shown = new Set(queries().flatMap((expr) => expr.match(NAME) ?? []));
    const own = [...page.matchAll(/^# TYPE (quire_\S+) /gm)].map(([, name = '']) => name);
    const isShown = (name: string) =>
      ['', '_bucket', '_sum', '_total'].some((end) => shown.has(`${name}${end}`));
    expect(own.filter((name) => !isShown(name))).to.deep.equal([]);
  });

  it('has an alert for each thing that needs a person, and a section on what to do', async () => {
    const sections = [...(await textOf('docs/reference/alerts.md')).matchAll(/^## (\w+)$/gm)];
    const names = rules().map(({ name }) => name);
    expect(names).to.have.length([...alerts.matchAll(/- alert:/g)].length);
    expect(sections.map(([, name = '']) => name).sort()).to.deep.equal([...names].sort());
    for (const name of names) expect(alerts).to.contain(`docs/reference/alerts.md#${name.toLowerCase()}`);
  });

  it('asks the dashboard’s reader which Prometheus to use, in every panel', () => {
    const panels = dashboard.panels.filter(({ type }) => type !== 'row');
    for (const { title, datasource, targets = [] } of panels) {
      expect(datasource?.uid, title).to.equal('${datasource}');
      expect(targets, title).not.to.be.empty;
      for (const target of targets) expect(target.datasource.uid, title).to.equal('${datasource}');
    }
  });
});
