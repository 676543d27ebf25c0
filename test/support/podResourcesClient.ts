/** A client of the pod resources API, as monitoring agents use it. */
import { Client, credentials } from "@grpc/grpc-js";
import {
  AllocatableResourcesResponse,
  GetPodResourcesRequest,
  GetPodResourcesResponse,
  ListPodResourcesResponse,
  ListPodResourcesResponseV1Alpha1,
} from "../../src/gen/podResources.ts";

interface Decoder<T> {
  decode(bytes: Uint8Array): T;
}

const NOTHING = new Uint8Array();

/** Connects to the socket at this path. Calls reject with the service error; close it at the end. */
export function podResourcesClient(socket: string) {
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  const call = <T>(method: string, request: Uint8Array, { decode }: Decoder<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        `/${method}`,
        (bytes: Uint8Array) => Buffer.from(bytes),
        (bytes) => decode(bytes),
        request,
        (error, answer) => (answer === undefined ? reject(error ?? new Error("no answer")) : resolve(answer)),
      );
    });
  return {
    list: () => call("v1.PodResourcesLister/List", NOTHING, ListPodResourcesResponse),
    listV1Alpha1: () => call("v1alpha1.PodResourcesLister/List", NOTHING, ListPodResourcesResponseV1Alpha1),
    allocatable: () => call("v1.PodResourcesLister/GetAllocatableResources", NOTHING, AllocatableResourcesResponse),
    get: (podNamespace: string, podName: string) =>
      call(
        "v1.PodResourcesLister/Get",
        GetPodResourcesRequest.encode({ podName, podNamespace }).finish(),
        GetPodResourcesResponse,
      ),
    close: () => client.close(),
  };
}
