// The little that the map's build takes of packages without types.

declare module 'topojson-client' {
  export type Country = { id?: string; properties: { name: string } };
  export function feature(topology: unknown, object: unknown): { features: Country[] };
}

declare module 'd3-geo' {
  export type Projection = { fitSize(size: [number, number], shape: unknown): Projection };
  export type Path = { (shape: unknown): string | null; digits(count: number): Path };
  export function geoEqualEarth(): Projection;
  export function geoPath(projection: Projection): Path;
}
