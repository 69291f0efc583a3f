import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { metricsReference } from '../../src/reference/metricsReference.ts';
import { inventoryRules, ruleOf, textInEvents, textInTables } from '../../src/reference/personalData.ts';
import { writtenMembers } from '../../domain/writtenText.ts';
import inventory from '../../src/reference/personalData.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SAY = 'say in src/reference/personalData.json what it holds';

/** Words that stay in events: of no tenant, or told by a schema, a key or a model's address. */
const IN_EVENTS = [
  'PriceListPublished.note',
  'BillingConfigPublished.note',
  'MonthReopened.reason',
  'ApiKeyIssued.last4',
  'ConfigPublished.llm.api_base',
  'ConfigPublished.llm.api_key_last4',
  'ConfigPublished.ocr.api_base',
  'ConfigPublished.ocr.api_key_last4',
  'TrainingJobSucceeded.per_field.path',
  'ArtifactPublished.per_field.path',
  'PaymentClaimed.intent.stored',
];

const sources = (): readonly string[] =>
  ['domain', 'adapters', 'projections', 'src'].flatMap((room) =>
    readdirSync(ROOT + room, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(`${ROOT}${room}/${name}`, 'utf8')),
  );

/** What a pattern finds in the sources, once each. */
const named = (pattern: RegExp): readonly string[] => [
  ...new Set(sources().flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))),
];

describe('the inventory of personal data', () => {
  const places = [...textInEvents(), ...textInTables()];

  it('knows the places that are looked for', () => {
    const all = places.map(({ owner, path }) => `${owner}.${path}`);
    expect(all).to.include.members([
      'CreditsAdjusted.reason',
      'PaymentClaimed.intent.data.note',
      'ConfigPublished.schema',
      'ConfigPublished.llm.api_base',
      'PlaceTaken.holders.name',
      'metadata.actor.key_id',
      'documents.file_name',
      'ledger.details',
    ]);
    expect(all).not.to.include.members(['CreditsAdjusted.created_at', 'PlanSet.plan', 'documents.pages']);
  });

  it('says what each member of an event and each column holds', () => {
    const unsaid = places.filter((place) => ruleOf(place) === undefined);
    expect(
      unsaid.map(({ owner, path }) => `${owner}.${path}`),
      SAY,
    ).to.deep.equal([]);
  });

  it('says of each member with words of a tenant whether its text is kept beside the log', () => {
    const words = textInEvents().filter((place) => ruleOf(place)?.kind === 'words');
    const all = words.map(({ owner, path }) => `${owner}.${path}`);
    expect([...writtenMembers(), ...IN_EVENTS].sort()).to.deep.equal([...all].sort());
  });

  it('says nothing of what is not there any more, and nothing twice', () => {
    const used = new Set(places.map((place) => ruleOf(place)?.rule));
    expect(inventoryRules().filter((rule) => !used.has(rule))).to.deep.equal([]);
    const members = Object.values(inventory.members).flat();
    expect(members.length).to.equal(new Set(members).size);
  });

  it('says what each folder of objects holds', () => {
    const folders = named(/(?:PREFIX|PREFIXES) = '([a-z]+\/)'/g).concat(named(/`([a-z]+\/)\$\{secretId\}`/g));
    expect([...folders].sort(), SAY).to.deep.equal(Object.keys(inventory.objects).sort());
  });

  it('says what each table beside the read models holds', () => {
    const tables = named(/create table if not exists (\w+\.\w+)/g);
    expect([...tables].sort(), SAY).to.deep.equal(Object.keys(inventory.tables).sort());
  });

  it('knows every label of a metric: none has a tenant, a key or a document', () => {
    const labels = [...metricsReference().matchAll(/^\| `\w+` \| \w+ \| (.*?) \|/gm)].flatMap(
      ([, cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
    );
    expect([...new Set(labels)].sort(), SAY).to.deep.equal(inventory.labels);
  });
});
