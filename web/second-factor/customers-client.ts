// The methods of the reader's own account.

import { createClient } from '@connectrpc/connect';
import { CustomersService } from '../../proto/gen/dashboard/customers/v1/customers_pb.js';
import { transport } from '../client.ts';

export const customersClient = createClient(CustomersService, transport);
