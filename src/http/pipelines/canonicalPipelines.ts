import { z } from 'zod';
import type { CanonicalCall, CanonicalOperation } from '../canonical/canonicalOperations.ts';
import { payloadOf } from '../canonical/canonicalPayload.ts';
import { invalid } from '../problems.ts';
import { activatePayload, trainingJobFields } from '../wire/pipelines.ts';
import { activate, artifactList, artifactOf, resolve } from './deployments.ts';
import { cancelJob, createJob, jobStatus } from './trainingJobs.ts';

const nothing = z.strictObject({});
const page = z.strictObject({
  limit: z.int().min(1).max(1000).default(100),
  offset: z.int().min(0).default(0),
});

const named = ({ request }: CanonicalCall, member: 'job_id' | 'artifact_id'): string => {
  const id = request.body.resource[member];
  if (id === undefined)
    throw invalid({ loc: ['body', 'resource', member], msg: `Name it by its ${member}.`, type: 'missing' });
  return id;
};

const jobIn = (call: CanonicalCall) => {
  payloadOf(call, nothing);
  return { tenant_id: call.request.body.scope.tenant_id, job_id: named(call, 'job_id') };
};

/** Operations of the envelope on training jobs, deployments and artifacts. */
export const PIPELINE_OPERATIONS: Readonly<Record<string, CanonicalOperation>> = {
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
    payloadOf(call, nothing);
    return resolve(call.deps, call.request.body.scope);
  },
  'artifact.get': async (call) => {
    payloadOf(call, nothing);
    return artifactOf(call.deps, call.request.body.scope.tenant_id, named(call, 'artifact_id'));
  },
  'artifact.list': (call) => {
    const { tenant_id } = call.request.body.scope;
    return artifactList(call.deps, call.request, { tenant_id, ...payloadOf(call, page) });
  },
};
