// What a page gets from its address.

/** The parameters that the route's pattern names, decoded. */
export type PageProps = { params: Record<string, string> };
