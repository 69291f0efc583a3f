import type { z } from 'zod';
import { payloadOf, type CanonicalCall, type CanonicalOperation } from '../canonical/canonicalPayload.ts';
import { invalid } from '../problems.ts';
import { listPayload, noPayload } from '../wire/canonical.ts';
import { activatePayload, trainingJobFields } from '../wire/pipelines.ts';
import { activate, artifactList, artifactOf, resolve } from './deployments.ts';
import { cancelJob, createJob, jobStatus } from './trainingJobs.ts';

const named = ({ request }: CanonicalCall, member: 'job_id' | 'artifact_id'): string => {
  const id = request.body.resource[member];
  if (id === undefined)
    throw invalid({ loc: ['body', 'resource', member], msg: `Name it by its ${member}.`, type: 'missing' });
  return id;
};

const jobIn = (call: CanonicalCall) => {
  payloadOf(call, noPayload);
  return { tenant_id: call.request.body.scope.tenant_id, job_id: named(call, 'job_id') };
};

/** Operations of the envelope on training jobs, deployments and artifacts. */
export const PIPELINE_OPERATIONS = {
  'training.create': (call) => {
    const { environment: _, ...scope } = call.request.body.scope;
    return createJob(call.deps, call.request, { scope, fields: payloadOf(call, trainingJobFields) });
  },
  'training.get': async (call) => jobStatus(call.deps, call.request, jobIn(call)),
  'training.cancel': async (call) => cancelJob(call.deps, call.request, jobIn(call)),
  'deployment.activate': (call) => {
    const { scope } = call.request.body;
    const fields = { ...payloadOf(call, activatePayload), artifact_id: named(call, 'artifact_id') };
    return activate(call.deps, call.request, { scope, fields });
  },
  'deployment.resolve': async (call) => {
    payloadOf(call, noPayload);
    return resolve(call.deps, call.request.body.scope);
  },
  'artifact.get': async (call) => {
    payloadOf(call, noPayload);
    return artifactOf(call.deps, call.request.body.scope.tenant_id, named(call, 'artifact_id'));
  },
  'artifact.list': (call) => {
    const { tenant_id } = call.request.body.scope;
    return artifactList(call.deps, call.request, { tenant_id, ...payloadOf(call, listPayload) });
  },
} satisfies Readonly<Record<string, CanonicalOperation>>;

/** What each of them takes as its payload, for the reference. */
export const PIPELINE_PAYLOADS: Readonly<Record<keyof typeof PIPELINE_OPERATIONS, z.ZodType>> = {
  'training.create': trainingJobFields,
  'training.get': noPayload,
  'training.cancel': noPayload,
  'deployment.activate': activatePayload,
  'deployment.resolve': noPayload,
  'artifact.get': noPayload,
  'artifact.list': listPayload,
};
