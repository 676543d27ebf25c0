/** gRPC health checking (`grpc.health.v1`): the one import path of its generated messages and service definition. */
export * from "./proto/grpc/health/v1/health.ts";
