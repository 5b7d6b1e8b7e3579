import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/** DynamoDB Local as its own ServerRunner starts it, but on the loopback interface: it has no option for the address. */
public class Launcher {
  public static void main(String[] args) throws Exception {
    DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(args);
    for (Field field : DynamoDBProxyServer.class.getDeclaredFields()) {
      if (Server.class.isAssignableFrom(field.getType())) {
        field.setAccessible(true);
        for (Connector connector : ((Server) field.get(local)).getConnectors()) {
          ((ServerConnector) connector).setHost("127.0.0.1");
        }
      }
    }
    local.safeStart();
    local.join();
  }
}
