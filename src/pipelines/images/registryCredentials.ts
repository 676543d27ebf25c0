/**
 * Finds the credentials for an image pull, in the order in which imagePull.ts tries them: those of the pod's pull
 * secrets, of the node's docker files (cached for five minutes) and of plugins. Upstream: getPullSecretsForPod,
 * pkg/credentialprovider.
 */
import { combineLatest, defer, map, type Observable, of, tap } from "rxjs";
import type { Container, Pod } from "../../core/api.ts";
import type { ConfigObjects } from "../../core/configObjects.ts";
import {
  type DockerFilePlaces,
  readDockerConfig,
  type RegistryCredential,
  type RegistryCredentials,
} from "../../core/image/dockerConfig.ts";
import { parseImageRef } from "../../core/image/imageRef.ts";
import { keyringOf, lookUp } from "../../core/image/keyring.ts";
import { allCredentialsOf } from "../../core/image/pullSecrets.ts";
import { pullSecretReferences } from "../../core/pod/podReferences.ts";
import type { MonotonicMs } from "../../core/ids.ts";
import { ok, type Result } from "../../core/result.ts";
import { orElse } from "../../operators/orElse.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { AskPlugins } from "./credentialPlugins.ts";
import type { PodObjects } from "../podObjects.ts";

/** Credentials that a pull may use. */
export interface PullCredentials {
  /** Credentials in the order of attempts; empty: pull without credentials. */
  readonly credentials: readonly RegistryCredential[];
  /** Pull secrets that could not be read. */
  readonly missing: readonly string[];
}

export interface RegistryCredentialsDeps {
  readonly ports: Pick<KubeletPorts, "files" | "clock" | "telemetry">;
  readonly places: DockerFilePlaces;
  readonly objects: PodObjects;
  readonly askPlugins: AskPlugins;
}

/** Emits one value: the credentials for the image of a container, or why the pod's secrets cannot be read. */
export type FindCredentials = (pod: Pod, container: Container) => Observable<Result<PullCredentials>>;

const FRESH_MS = 5 * 60_000;
const MAX_BYTES = 1024 * 1024;

/** Creates the search. It reads no file before a pull needs one. */
export function createRegistryCredentials({
  ports,
  places,
  objects,
  askPlugins,
}: RegistryCredentialsDeps): FindCredentials {
  const ofNode$ = cachedFiles(ports, places);
  return (pod, container) => {
    const ref = parseImageRef(container.image ?? "");
    if (!ref.ok) return of(ref);
    const { repository } = ref.value;
    const wanted = pullSecretReferences(pod.spec);
    return combineLatest([objects.read(pod, wanted), ofNode$, askPlugins(pod, repository)]).pipe(
      map(([known, ofNode, ofPlugins]) => {
        const { secrets, missing } = secretsOf(pod, known);
        const ofPod = allCredentialsOf(secrets);
        if (!ofPod.ok) return ofPod;
        const rings = [ofPod.value, ofNode, ofPlugins].map(keyringOf);
        return ok({ credentials: rings.flatMap((ring) => lookUp(ring, repository)), missing });
      }),
    );
  };
}

function secretsOf({ metadata: { namespace }, spec }: Pod, known: ConfigObjects) {
  const found = pullSecretReferences(spec).map(({ name }) => ({ name, secret: known.secret(namespace, name) }));
  return {
    secrets: found.flatMap(({ secret }) => (secret === undefined ? [] : [secret])),
    missing: found.filter(({ secret }) => secret === undefined).map(({ name }) => name),
  };
}

function cachedFiles(
  ports: RegistryCredentialsDeps["ports"],
  places: DockerFilePlaces,
): Observable<readonly RegistryCredentials[]> {
  const { clock } = ports;
  let kept: { readonly configs: readonly RegistryCredentials[]; readonly at: MonotonicMs } | undefined;
  return defer(() => {
    if (kept !== undefined && clock.monotonicMs() - kept.at < FRESH_MS) return of(kept.configs);
    return readFiles(ports, places).pipe(tap((configs) => (kept = { configs, at: clock.monotonicMs() })));
  });
}

function readFiles(
  ports: RegistryCredentialsDeps["ports"],
  { configJson, dockercfg }: DockerFilePlaces,
): Observable<readonly RegistryCredentials[]> {
  const first = (found: readonly (RegistryCredentials | undefined)[]) => found.find((config) => config !== undefined);
  const files = (form: "config.json" | ".dockercfg", paths: readonly string[]) =>
    combineLatest([of(undefined), ...paths.map((path) => readFile(ports, form, path))]).pipe(map(first));
  return combineLatest([files("config.json", configJson), files(".dockercfg", dockercfg)]).pipe(
    map(([modern, old]) => {
      const config = modern ?? old;
      return config === undefined ? [] : [config];
    }),
  );
}

/** Returns undefined for a missing file, and for an unusable one, which is logged. */
const readFile = (
  { files, telemetry }: RegistryCredentialsDeps["ports"],
  form: "config.json" | ".dockercfg",
  path: string,
): Observable<RegistryCredentials | undefined> =>
  files.readTail(path, MAX_BYTES, "followed").pipe(
    map((text) => {
      const read = readDockerConfig(form, text, path);
      if (read.ok) return read.value;
      telemetry.log.error("Cannot use a file of registry credentials", { path, error: read.error });
      return undefined;
    }),
    orElse(() => of(undefined)),
  );
