// What `refusedNames` answers for the engine that package.json names: an engine that is asked for all its functions
// keeps 24 MB of memory for as long as it runs. known-names.test.ts holds the list against the engine.

import type { RefusedNames } from './reach.ts';

const knownVersion = '26.7.2.1';
const tableFunctions = `
  arrowstream azureblobstorage azureblobstoragecluster cluster clusterallreplicas cosn deltalake deltalakeazure
  deltalakeazurecluster deltalakecluster deltalakelocal deltalakes3 deltalakes3cluster dictionary eval executable file
  filecluster filesystem format fuzzjson fuzzquery gcs generate_series generaterandom generateseries hdfs hdfscluster
  hudi hudicluster iceberg icebergazure icebergazurecluster icebergcluster iceberghdfs iceberghdfscluster iceberglocal
  iceberglocalcluster icebergs3 icebergs3cluster input jdbc loop merge mergetreeanalyzeindexes
  mergetreeanalyzeindexesuuid mergetreeindex mergetreeprojection mergetreetextindex mongodb mysql null numbers_mt odbc
  oss paimon paimonazure paimonazurecluster paimoncluster paimonhdfs paimonhdfscluster paimonlocal paimons3
  paimons3cluster postgresql primes prometheusquery prometheusqueryrange redis remote remotesecure s3 s3cluster sqlite
  sqlstandardvalues timeseriesdata timeseriesmetrics timeseriessamples timeseriesselector timeseriestags url
  urlcluster values viewexplain viewifpermitted ytsaurus zeros zeros_mt`;
const functions = `
  __actionname __applyfilter __bitboolmaskand __bitboolmaskor __bitswaplasttwo __bitwrapperfunc __getscalar
  __patchpartitionid __scalarsubqueryresult __toyearcalendaronly _cast addresstoline addresstolinewithinlines
  addresstosymbol aiclassify aiembed aiextract aigenerate aitranslate authenticateduser authuser bar blocknumber
  blockserializedsize blocksize buildid casewithexpr casewithexpression catboostevaluate coloroklabtosrgb
  coloroklchtosrgb colorsrgbtooklab colorsrgbtooklch connection_id connectionid countdigits current_database
  current_query_id current_schemas current_user currentprofiles currentqueryid currentroles currentschemas currentuser
  defaultprofiles defaultroles defaultvalueofargumenttype defaultvalueoftypename demangle dictget dictgetall
  dictgetchildren dictgetdate dictgetdateordefault dictgetdatetime dictgetdatetimeordefault dictgetdescendants
  dictgetfloat32 dictgetfloat32ordefault dictgetfloat64 dictgetfloat64ordefault dictgethierarchy dictgetint16
  dictgetint16ordefault dictgetint32 dictgetint32ordefault dictgetint64 dictgetint64ordefault dictgetint8
  dictgetint8ordefault dictgetipv4 dictgetipv4ordefault dictgetipv6 dictgetipv6ordefault dictgetkeys dictgetordefault
  dictgetornull dictgetroot dictgetstring dictgetstringordefault dictgetuint16 dictgetuint16ordefault dictgetuint32
  dictgetuint32ordefault dictgetuint64 dictgetuint64ordefault dictgetuint8 dictgetuint8ordefault dictgetuuid
  dictgetuuidordefault dicthas dictisin digits displayname dumpcolumnstructure enabledprofiles enabledroles
  errorcodetoname evalmlmethod file filesystemavailable filesystemcapacity filesystemunreserved flipcoordinates
  format_bytes formatquery formatqueryornull formatquerysingleline formatquerysinglelineornull
  formatreadabledecimalsize formatreadablequantity formatreadablesize formatreadabletimedelta fqdn fullhostname
  fuzzquery generaterandomstructure generateserialid getclienthttpheader getmacro getmaxtablenamelengthfordatabase
  getmergetreesetting getoskernelversion getserverport getserversetting getsettingordefault getsizeofenumtype
  getsubcolumn gettypeserializationstreams globalvariable hascolumnintable hasthreadfuzzer highlightquery hostname
  icebergbucket icebergtruncate initial_query_id initial_query_start_time initializeaggregation initialqueryid
  initialquerystarttime isconstant isdecimaloverflow ismergetreepartcoveredby joinget joingetornull logtrace
  lowcardinalityindices lowcardinalitykeys macnumtostring macstringtonum macstringtooui mergetreepartinfo
  minsamplesizecontinous minsamplesizecontinuous minsamplesizeconversion naivebayesclassifier
  naivebayesclassifierwithallprobs naivebayesclassifierwithprob neighbor nested normalizedqueryhash
  normalizedqueryhashkeepnames normalizequery normalizequerykeepnames obfuscatequery obfuscatequerywithseed
  parsereadablesize parsereadablesizeornull parsereadablesizeorzero parsetimedelta partitionid query_id queryid
  regionhierarchy regionin regiontoarea regiontocity regiontocontinent regiontocountry regiontodistrict regiontoname
  regiontopopulation regiontotopcontinent revision rownumberinallblocks rownumberinblock runningaccumulate
  runningconcurrency runningdifference runningdifferencestartingwithfirstvalue serveruuid session_user shardcount
  shardnum showcertificate structuretocapnprotoschema structuretoprotobufschema tcpport tid tocolumntypename
  tokenizequery transactionid transactionlatestsnapshot transactionoldestsnapshot uptime user validatenestedarraysizes
  variantelement varianttype visiblewidth zookeepersessionuptime`;

/** Undefined for any other version: that engine has to be asked. */
export function knownRefusedNames(version: string): RefusedNames | undefined {
  if (version !== knownVersion) return undefined;
  return { tableFunctions: namesOf(tableFunctions), functions: namesOf(functions) };
}

function namesOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
