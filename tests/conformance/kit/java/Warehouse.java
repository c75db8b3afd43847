import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.SessionCatalog.SessionContext;
import org.apache.iceberg.rest.HTTPClient;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.rest.RESTClient;
import org.apache.iceberg.rest.RESTUtil;

/**
 * Where the kit runs, and all that is adapted for it: places are the warehouse's own, each given out once, and a drop says that
 * files are to be kept, because Lakeward purges a drop that does not say.
 */
final class Warehouse {
  /** What the kit expects of every client: defaults and overrides of its own, which no server sees. */
  private static final Map<String, String> EXPECTED =
      Map.of(
          "table-default.default-key1", "catalog-default-key1",
          "table-default.default-key2", "catalog-default-key2",
          "table-default.override-key3", "catalog-default-key3",
          "table-override.override-key3", "catalog-override-key3",
          "table-override.override-key4", "catalog-override-key4",
          "view-default.key1", "catalog-default-key1",
          "view-default.key2", "catalog-default-key2",
          "view-default.key3", "catalog-default-key3",
          "view-override.key3", "catalog-override-key3",
          "view-override.key4", "catalog-override-key4");

  private static int test;
  private static Map<String, String> properties;
  private static String locations;

  private Warehouse() {}

  /** Which one, from now on. `locations` lies inside it and ends without a slash. */
  static void choose(Map<String, String> properties, String locations) {
    Warehouse.properties = Map.copyOf(properties);
    Warehouse.locations = locations;
  }

  static RESTCatalog connect(String name, Map<String, String> additional) {
    Map<String, String> all = new HashMap<>(EXPECTED);
    all.putAll(properties);
    all.putAll(additional);
    RESTCatalog catalog = new RESTCatalog(SessionContext.createEmpty(), Warehouse::client);
    catalog.initialize(name, all);
    return catalog;
  }

  /** A place for what the running test makes; none of another test lies there, since files outlive the tables that are dropped. */
  static String place(String... path) {
    return locations + "/" + test + "/" + String.join("/", path);
  }

  /** Takes out what the running test left. */
  static void clear(RESTCatalog catalog) {
    clear(catalog, catalog.listNamespaces());
    test++;
  }

  private static void clear(RESTCatalog catalog, List<Namespace> namespaces) {
    for (Namespace namespace : namespaces) {
      clear(catalog, catalog.listNamespaces(namespace));
      catalog.listTables(namespace).forEach(table -> catalog.dropTable(table, false));
      catalog.listViews(namespace).forEach(catalog::dropView);
      catalog.dropNamespace(namespace);
    }
  }

  private static RESTClient client(Map<String, String> config) {
    return keepingFiles(HTTPClient.builder(config).uri(config.get("uri")).withHeaders(RESTUtil.configHeaders(config)).build());
  }

  private static RESTClient keepingFiles(RESTClient client) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          if (method.getName().equals("withAuthSession")) {
            return keepingFiles((RESTClient) called(client, method, arguments));
          }
          boolean bare = method.getName().equals("delete") && method.getParameterCount() == 4;
          if (bare && ((String) arguments[0]).contains("/tables/")) {
            Map<String, String> query = Map.of("purgeRequested", "false");
            Class<?>[] types = method.getParameterTypes();
            Method queried = RESTClient.class.getMethod("delete", String.class, Map.class, types[1], types[2], types[3]);
            return called(client, queried, arguments[0], query, arguments[1], arguments[2], arguments[3]);
          }
          return called(client, method, arguments);
        };
    return (RESTClient) Proxy.newProxyInstance(RESTClient.class.getClassLoader(), new Class<?>[] {RESTClient.class}, handler);
  }

  private static Object called(Object target, Method method, Object... arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException failure) {
      throw failure.getCause();
    }
  }
}
